/** The operator's page: follows the daemon's events, and shows the view that the address names. */

import { noteReport } from '../common/clock.js';
import { byId, setAttribute, setText, showList } from '../common/dom.js';
import { closeGame, createGame, updateGame } from './game.js';
import { showHealth } from './health.js';
import { ask, showHistory } from './history.js';
import { closeReplay, showReplay } from './replay.js';
import { joined, plural } from './words.js';

const RETRY_MS = 2000;
const SILENCE_MS = 30_000; // the daemon sends something every 12 s
const VIEWS = ['live', 'history', 'game'];
let firstVersion = null;
let opponents = new Map();
let latest = null;
let source = null;
let renewal = null;
let place = null; // in the history, for the way back from a game; null: the history is read anew

/** Follow the daemon, also over its restarts. */
function connect() {
  source?.close();
  source = new EventSource('api/events');
  source.addEventListener('status', (event) => show(JSON.parse(event.data)));
  source.addEventListener('stale', () => showConnection('the daemon does not answer'));
  source.addEventListener('error', () => {
    showConnection('reconnecting');
    // The browser gives up after an answer such as 502 of a proxy.
    source.readyState === EventSource.CLOSED && setTimeout(connect, RETRY_MS);
  });
}

/** Show what was heard last of the connection; it is renewed after a silence, as it may die without an error. */
function showConnection(text) {
  setText(byId('connection'), text);
  document.body.dataset.connection = text;
  clearTimeout(renewal);
  renewal = setTimeout(() => { showConnection('nothing heard from the daemon'); connect(); }, SILENCE_MS);
}

function show(status) {
  const wasAway = document.body.dataset.connection !== 'connected';
  latest = status;
  showConnection('connected');
  wasAway && ask.hasFailed && navigate();
  status.games.forEach(noteReport);
  const name = status.connection.account ?? 'lichessbot';
  setText(byId('account'), name);
  setText(byId('activity'), status.activity);
  document.body.dataset.activity = status.activity;
  document.title = `${name}: ${plural(status.games.length, 'game')}`;
  showLive();
  firstVersion ??= status.version;
  const renewed = status.version !== firstVersion && 'the daemon was upgraded: reload this page';
  setText(byId('version'), joined(`lichessbot ${status.version}`, `process ${status.process_id}`, renewed));
  announce(status.games);
}

/** Show the state and the games. Hidden boards leave: others would take the heads of their arrows from them. */
function showLive() {
  const games = byId('live').hidden ? [] : latest.games;
  showList(byId('games'), games, (game) => game.game_id, createGame, updateGame, closeGame);
  showHealth(latest);
}

/** Tell a screen reader which games began and ended, and nothing else. */
function announce(games) {
  const before = opponents;
  opponents = new Map(games.map((game) => [game.game_id, game[game.our_colour === 'black' ? 'white' : 'black'].name]));
  const began = [...opponents].filter(([id]) => !before.has(id)).map(([, name]) => `Game against ${name} began.`);
  const ended = [...before].filter(([id]) => !opponents.has(id)).map(([, name]) => `Game against ${name} is over.`);
  began.length + ended.length && setText(byId('news'), [...began, ...ended].join(' '));
}

/** Show the view that the address names, such as `#/history`. */
function navigate() {
  const [, name, id] = location.hash.split('/');
  const view = VIEWS.includes(name) ? name : 'live';
  VIEWS.forEach((other) => { byId(other).hidden = other !== view; });
  ['live', 'history'].forEach((it) => setAttribute(byId(`to-${it}`), 'aria-current', view === it && 'page'));
  closeReplay();
  if (ask.hasFailed) place = null;
  ask.hasFailed = false;
  latest && showLive();
  view === 'history' && place === null && showHistory();
  view === 'game' && showReplay(byId('game'), id);
}

addEventListener('hashchange', () => {
  if (!location.hash || location.hash.startsWith('#/')) { // others are places within a view
    if (!byId('history').hidden) place = location.hash.startsWith('#/game/') ? scrollY : null;
    navigate();
    byId('main').focus();
    scrollTo(0, byId('history').hidden ? 0 : place);
  }
});
byId('to-history').addEventListener('click', () => {
  place = null;
  byId('history').hidden || showHistory();
});
history.scrollRestoration = 'manual'; // a browser would scroll before the place is noted
navigate();
connect();

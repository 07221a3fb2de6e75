/** The page: takes what the server tells, remembers what the person looks at, and shows both. */

import { byId, setAttribute, setText } from '../common/dom.js';
import { buildChallenge, showChallenge } from './challenge.js';
import { showChat, showMoves, showOffer, showPlayers, showState } from './game.js';
import { showReview } from './review.js';
import { ask, attempt, listen, readPgn } from './server.js';
import * as sounds from './sounds.js';
import { makeTable } from './table.js';
import { showOthers } from './watch.js';

const told = { lobby: null, boards: [], game: undefined, analysis: null };
const view = { ply: 0, flipped: false, wantsForm: false };

const table = makeTable((move) => (move ? act('move', { move }, () => show(true)) : show(true)));
const watched = () => location.hash.slice(1);
const listenAnew = listen(Object.keys(told), watched, hear, (isOpen) =>
  setText(byId('connection'), isOpen ? '' : 'Connection lost, trying again …'));

function hear(topic, data) {
  const before = told[topic];
  told[topic] = data;
  if (topic === 'game') followGame(before, data);
  const hasBegun = topic === 'lobby' && before && data.playing && data.playing !== before.playing;
  if (hasBegun && watched()) location.hash = '';
  if (topic === 'lobby' && data.notice) setText(byId('said'), data.notice);
  topic === 'boards' ? showBoards() : show();
}

/** Keep the latest position in view, unless the person looks at an earlier one and has not moved; tell what is new. */
function followGame(before, game) {
  const isNew = before?.id !== game?.id;
  const isMoved = isNew || before?.moves.length !== game?.moves.length;
  if (isNew || game?.isOver) byId('sure').close();            // what it asks is past
  if (isMoved || game?.isOver) byId('promotion').close();
  if (isMoved) setText(byId('move-error'), '');
  if (isNew) {
    const wantsForm = !game || (view.wantsForm && game.isOver && !watched());
    Object.assign(view, { ply: game?.moves.length ?? 0, flipped: false, wantsForm });
    byId('move-text').value = '';
    setText(byId('said'), '');
  } else if (game) {
    const isFollowed = view.ply >= before.moves.length || game.moves[before.moves.length]?.color === game.me;
    view.ply = isFollowed ? game.moves.length : Math.min(view.ply, game.moves.length);
  }
  if (!game || before === undefined) return;
  const move = game.moves.at(-1);
  if (!isNew && game.isOver && !before.isOver) {
    sounds.play('end');
    setText(byId('announcement'), `${move?.words ?? ''}. ${game.title}. ${game.reason}`);
  } else if (isNew) {
    sounds.play('start');
    byId('side').focus({ preventScroll: true });
    byId('table').scrollIntoView({ block: 'nearest' });
    setText(byId('announcement'), game.me ? `A new game. You play ${game.me}.` : 'A game of the bot.');
  } else if (game.moves.length > before.moves.length) {
    sounds.play(move.check ? 'check' : move.san.includes('x') ? 'capture' : 'move');
    setText(byId('announcement'), move.words);
  } else if (game.moves.length < before.moves.length) {
    setText(byId('announcement'), `A move was taken back. It is ${game.turn}'s turn.`);
  }
}

function show(isRefused = false) {
  const { lobby, game } = told;
  if (!lobby || game === undefined) return;
  const focused = document.activeElement;
  const turned = (colour) => ((colour === 'black') !== view.flipped ? 'black' : 'white');
  const isForm = !game || (view.wantsForm && game.isOver);
  const analysis = told.analysis?.id === game?.id ? told.analysis : null;
  const mistakes = analysis?.mistakes ?? [];
  setText(byId('heading'), `Play ${lobby.bot.name}`);
  document.title = `${game?.title ?? 'New game'} · ${lobby.bot.name}`;
  setAttribute(byId('sound'), 'aria-pressed', String(sounds.isOn()));
  showChallenge(lobby);
  byId('challenge').hidden = !isForm;
  byId('game').hidden = isForm;
  setText(byId('leave'), lobby.playing ? 'Back to your game' : 'Leave');
  byId('rematch').disabled = (byId('new-game').disabled = Boolean(lobby.playing)) || lobby.isWaiting;
  showBoards();
  table.show(game, view.ply, turned(game?.orientation), mistakes.find((it) => it.ply === view.ply)?.better, isRefused);
  byId('table').classList.toggle('empty', !game);
  byId('talk').hidden = !game;
  if (game) {
    showPlayers(game, turned(game.below));
    showMoves(game, view.ply, new Map(mistakes.map((it) => [it.ply, it])), goTo);
    showState(game);
    showChat(game);
  }
  showReview(game, analysis, view.ply, goTo);
  showOffer(game?.offer ?? lobby.offer, (path, accept) => attempt(ask(path, { accept }), 'said'));
  // What follows something that is hidden is above it; a browser would go on below, or at the top of the page.
  if (!focused.checkVisibility()) byId('side').focus({ preventScroll: true });
}

const showBoards = () => showOthers(told.boards, watched(), (id) => (location.hash = id));

function change(values) {
  Object.assign(view, values);
  show();
}

/** Show the position after a ply, also where the board has been scrolled away; what was `pressed` stays in view. */
function goTo(ply, pressed) {
  change({ ply: Math.max(0, Math.min(told.game?.moves.length ?? 0, ply)) });
  byId('table').scrollIntoView({ block: 'nearest' });
  pressed?.scrollIntoView({ block: 'nearest' });
}

const keys = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -Infinity, ArrowDown: Infinity };      // how many moves on
const isTyping = () => document.activeElement.matches('input, select') || byId('promotion').open;
const act = (command, form, refused) => attempt(ask(`game/${told.game.id}/${command}`, form), 'said', refused);

/** Copy a text, or what a request for it brings; Safari copies only during the click, so it gets the request itself. */
async function copy(text, what) {
  const blob = Promise.resolve(text).then((it) => new Blob([it], { type: 'text/plain' }));
  const write = async () => navigator.clipboard.write([new ClipboardItem({ 'text/plain': blob })]);
  await attempt(Promise.all([text, write()]), 'said');
  setText(byId('said'), byId('said').textContent || `${what} copied.`);
}

buildChallenge();
window.addEventListener('hashchange', listenAnew);
document.addEventListener('keydown', (event) => {
  if (keys[event.key] && !isTyping() && !event.ctrlKey && !event.altKey && !event.metaKey && told.game) {
    event.preventDefault();
    goTo(view.ply + keys[event.key]);
  }
});
// A browser that is turned keeps in view what was at the middle of its edge, which may be far from the board.
matchMedia('(orientation: portrait)').addEventListener('change', () => isTyping() || goTo(view.ply));
// The second click of a double click would ask for the same again, or press what has come into its place.
document.addEventListener('click', (event) => {
  if (event.detail < 2 || !event.target.closest('form button, #actions, #end, #offer')) return;
  event.preventDefault();
  event.stopPropagation();
}, true);
byId('steps').addEventListener('click', ({ target }) => target.value && goTo(view.ply + Number(target.value), target));

const clicks = {
  sound() { sounds.toggle(); show(); },
  skip(event) { event.preventDefault(); byId('side').focus(); },   // its address would leave the game that is watched
  'new-game'() { location.hash = ''; change({ wantsForm: true }); },
  leave: () => (location.hash = ''),
  flip: () => change({ flipped: !view.flipped }),
  resign: () => (told.game.isAbortable ? act('abort') : byId('sure').showModal()),
  'copy-fen': () => copy(told.game.moves[view.ply - 1]?.fen ?? told.game.initialFen, 'FEN'),
  'copy-pgn': () => copy(readPgn(told.game.id), 'PGN'),
};
['rematch', 'draw', 'takeback'].forEach((command) => { clicks[command] = () => act(command); });
Object.entries(clicks).forEach(([id, click]) => byId(id).addEventListener('click', click));
byId('sure').addEventListener('click', (event) => event.target.value === 'yes' && act('resign'));
for (const [id, command, place] of [['typing', 'move', 'move-error'], ['chat-form', 'chat', 'said']]) {
  byId(id).addEventListener('submit', (event) => {
    event.preventDefault();
    const request = ask(`game/${told.game.id}/${command}`, Object.fromEntries(new FormData(byId(id))));
    attempt(request.then(() => byId(id).reset()), place);     // after a refusal the text stays
  });
}

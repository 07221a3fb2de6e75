/** How the daemon is, and how its next games come about. */

import { byId, make, outside, setText, showList } from '../common/dom.js';
import { count, duration, joined, moment, player, plural, showFacts, terms } from './words.js';

const TONES = { accepted: 'good', declined: 'bad' };

/** Show all of the status but the games. */
export function showHealth(status) {
  showFacts(byId('health'), [...health(status), ...status.lobby.limits.map(limit)]);
  showFacts(byId('next'), nextGames(status.lobby));
  showList(byId('queue'), status.lobby.queue, (it) => it.challenge_id, () => make('li'), showWaiting);
  const decisions = status.lobby.last_challenges.toSorted((one, other) => other.at_epoch_s - one.at_epoch_s);
  const showDate = (element, it) => setText(element.firstChild, moment(it.at_epoch_s)); // today, or with the day
  const key = (it) => `${it.at_epoch_s} ${it.challenger} ${it.decision}`;
  showList(byId('challenges'), decisions, key, decision, showDate);
}

/** Return a fact in a tone, if there is one. */
const toned = (tone, text) => text && make('span', { class: tone }, text);

function health({ connection, games, engine, records, faults, up_for_s: upForS }) {
  const { events, requests } = connection;
  const open = games.filter((game) => game.stream?.is_open).map((game) => game.stream.silent_for_s ?? 0);
  const lost = games.length - open.length;
  const memory = Math.round(engine.memory_bytes / 2 ** 20);
  const waiting = Object.entries(requests.waiting).filter(([, number]) => number);
  const heldBack = requests.held_back.map((it) => `${it.what} until ${moment(it.until_epoch_s)}`);
  const survived = Object.entries(faults).filter(([, number]) => number);
  return [
    ['Lichess', joined(new URL(connection.server_url).host, connection.summary)],
    ['Events', events?.is_open
      ? `open for ${duration(events.open_for_s)}, last line ${duration(events.silent_for_s ?? 0)} ago`
      : toned('bad', 'not open')],
    ['Game streams', lost > 0
      ? toned('bad', `${lost} of ${games.length} lost`)
      : open.length > 0 && `${open.length} open, last lines at most ${duration(Math.max(...open))} ago`],
    ['Requests', waiting.map(([kind, number]) => `${kind} (${number})`).join(', ') || 'none waiting'],
    ['Held back', toned('warn', joined(...heldBack))],
    ['Engine', toned('bad', engine.failure && outside(engine.failure)) || outside(engine.name)],
    ['Speed', engine.searches > 0 && `${count(engine.nodes_per_s)} nodes/s in ${engine.searches} searches`],
    ['Processes', joined(plural(engine.processes, 'engine'), memory > 0 && `${memory} MiB with the daemon`)],
    ['Records', toned('bad', records.error && outside(`not written: ${records.error}`))],
    ['Survived', survived.map(([name, number]) => `${name.replaceAll('_', ' ')}: ${number}`).join(', ') || 'no faults'],
    ['Up', duration(upForS)],
  ];
}

function limit({ name, used, most, resumes_epoch_s: resumesEpochS }) {
  const bar = make('span', { class: 'used' }, make('span'));
  bar.firstChild.style.width = `${Math.min(100, (100 * used) / most)}%`;
  const resumes = resumesEpochS ? ` resumes ${moment(resumesEpochS)}` : '';
  return [name, make('span', {}, `${used} of ${most}`, toned('warn', resumes), bar)];
}

function nextGames({ slots, starting, tournaments, blocked, queue, matchmaking }) {
  const { open_challenge: open, next_step: nextStep, next_attempt_epoch_s: nextAt } = matchmaking;
  return [
    ['Slots', joined(slots, starting > 0 && `${starting} starting`)],
    ['Matchmaking', outside(nextAt ? `${nextStep}, at ${moment(nextAt)}` : nextStep)],
    ['Challenged', open && make('span', {}, outside(open.opponent), ' ', outside(open.terms))],
    ['Arenas', tournaments.join(', ')],
    ['Blocked', outside(blocked.join(', '))],
    ['Queue', queue.length ? plural(queue.length, 'challenge') : 'empty'],
  ].filter(([, fact]) => fact && fact.textContent !== '');
}

function showWaiting(element, it) {
  const time = `waits for ${duration(it.waits_for_s)}, expires in ${duration(it.expires_in_s)}`;
  const challenger = player(it.challenger, it.title, it.rating);
  element.replaceChildren(challenger, outside(terms(it)), make('span', { class: 'muted' }, time));
}

function decision(it) {
  return make('li', {},
    make('span', { class: 'muted' }, moment(it.at_epoch_s)),
    player(it.challenger, it.title, it.rating),
    outside(it.terms),
    make('span', {}, make('b', { class: TONES[it.decision] ?? 'warn' }, it.decision), ' ', make('code', {}, it.rule)),
    outside(it.because, { class: 'muted' }));
}

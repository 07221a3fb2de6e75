/** The challenge form. The browser remembers what was chosen last. */

import { byId, make, setText, showList } from '../common/dom.js';
import { ask, attempt } from './server.js';

const KEY = 'challenge';
const CLOCKS = ['1+0', '2+1', '3+0', '3+2', '5+0', '5+3', '10+0', '10+5', '15+10', '30+0', 'none', 'custom'];
const CLOCK_NAMES = { none: 'No clock', custom: 'Other' };
const COLOURS = { white: '♔ White', random: 'Random', black: '♚ Black' };

const form = byId('challenge');
const remembered = Object.fromEntries(new URLSearchParams(localStorage.getItem(KEY) ?? ''));

/** Build the form; call it once. */
export function buildChallenge() {
  byId('clocks').append(...CLOCKS.map((clock) => choice('clock', clock, CLOCK_NAMES[clock] ?? clock)));
  byId('colours').append(...Object.entries(COLOURS).map(([value, name]) => choice('colour', value, name)));
  for (const [name, value] of [['clock', '3+2'], ['colour', 'random'], ...Object.entries(remembered)]) {
    if (form.elements[name]) form.elements[name].value = value;     // radio buttons ignore what they do not offer
  }
  form.querySelectorAll('select').forEach((it) => { it.selectedIndex = Math.max(0, it.selectedIndex); });
  form.addEventListener('input', adapt);
  form.addEventListener('submit', send);
  byId('cancel').addEventListener('click', () => attempt(ask('challenge/cancel'), 'notice'));
  adapt();
}

/** Show what the server says about the bot and an open challenge. */
export function showChallenge(lobby) {
  const option = ({ key, name }) => make('option', { value: key, selected: key === remembered.strength }, name);
  showList(byId('strengths'), lobby.strengths, (it) => it.key, option);
  byId('send').disabled = lobby.isWaiting || !lobby.bot.isOnline;
  const state = lobby.isWaiting ? 'Waiting for the bot …' : 'Play';
  setText(byId('send'), lobby.bot.isOnline ? state : 'The bot is starting …');
  byId('cancel').hidden = !lobby.isWaiting;
  if (lobby.notice || lobby.isWaiting) setText(byId('notice'), lobby.notice);
}

function choice(name, value, text) {
  return make('label', {}, make('input', { type: 'radio', name, value }), make('span', {}, text));
}

function adapt() {
  const { clock, minutes, increment } = form.elements;
  byId('custom').hidden = minutes.disabled = increment.disabled = clock.value !== 'custom';
  byId('fen-label').hidden = form.elements.variant.value !== 'fromPosition';
}

function send(event) {
  event.preventDefault();
  const values = Object.fromEntries(new FormData(form));
  localStorage.setItem(KEY, new URLSearchParams({ ...remembered, ...values }));
  const [minutes, increment] = values.clock === 'custom' ? [values.minutes, values.increment] : values.clock.split('+');
  attempt(ask('challenge', {
    unlimited: values.clock === 'none',
    limit: Number(minutes) * 60,
    increment: Number(increment),
    color: values.colour,
    variant: values.variant,
    rated: values.rated === 'rated',
    fen: values.fen,
    strength: values.strength,
  }), 'notice');
}

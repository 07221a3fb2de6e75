/** The way to the server: requests of the person, and the stream of updates. */

import { byId, setText } from '../common/dom.js';

const RETRY_MS = 1000;

/** Return the server's answer; throws an error with its reason if there is none or it is a refusal. */
async function fetched(path, request) {
  const response = await fetch(`/play/${path}`, request).catch(() => {
    throw new Error('The server does not answer. Is the rehearsal still running?');
  });
  if (!response.ok) throw new Error((await response.json()).error);
  return response;
}

/** Ask the server for something; throws like `fetched`. */
export const ask = (path, form = {}) =>
  fetched(path, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(form) });

/** Wait for a request; a refusal is told in the element with the id `place`, and to `refused`. */
export async function attempt(request, place, refused = () => {}) {
  setText(byId(place), '');
  await request.catch((error) => {
    setText(byId(place), error.message);
    refused();
  });
}

/** Return the PGN of a game; throws like `fetched`. */
export const readPgn = async (gameId) => (await fetched(`game/${encodeURIComponent(gameId)}/pgn`)).text();

/**
 * Listen to the updates of `topics`, about the game that `shown()` names, or about one's own if it names none.
 * `hear(topic, data)` gets each, `connected(isOpen)` hears when the stream breaks or is back. Return what listens anew.
 */
export function listen(topics, shown, hear, connected) {
  let source = null;
  const open = () => {
    source?.close();
    source = new EventSource(shown() ? `/play/events?game=${encodeURIComponent(shown())}` : '/play/events');
    topics.forEach((topic) => source.addEventListener(topic, (event) => hear(topic, JSON.parse(event.data))));
    source.onopen = () => connected(true);
    source.onerror = () => {
      connected(false);
      if (source.readyState === EventSource.CLOSED) setTimeout(open, RETRY_MS);
    };
  };
  open();
  return open;
}

/** The way to the server: requests of the person, and the stream of updates. */

const TOPICS = ['lobby', 'boards', 'game', 'analysis'];
const RETRY_MS = 1000;

/** Ask the server for something; throws an error with its reason if that is not possible. */
export async function ask(path, form = {}) {
  const headers = { 'Content-Type': 'application/json' };
  const request = fetch(`/play/${path}`, { method: 'POST', headers, body: JSON.stringify(form) });
  const response = await request.catch(() => {
    throw new Error('The server does not answer. Is the rehearsal still running?');
  });
  const answer = await response.json();
  if (!response.ok) {
    throw new Error(answer.error);
  }
}

/** Return the PGN of a game. */
export const readPgn = async (gameId) =>
  (await fetch(`/play/game/${encodeURIComponent(gameId)}/pgn`)).text();

/**
 * Listen to updates, about the game that `shown()` names, or about one's own if it names none. `hear(topic, data)` gets
 * each of them, `connected(isOpen)` hears when the stream breaks and is back. Returns what listens anew.
 */
export function listen(shown, hear, connected) {
  let source = null;
  const open = () => {
    source?.close();
    source = new EventSource(shown() ? `/play/events?game=${encodeURIComponent(shown())}` : '/play/events');
    for (const topic of TOPICS) {
      source.addEventListener(topic, (event) => hear(topic, JSON.parse(event.data)));
    }
    source.onopen = () => connected(true);
    source.onerror = () => {
      connected(false);
      if (source.readyState === EventSource.CLOSED) setTimeout(open, RETRY_MS);
    };
  };
  open();
  return open;
}

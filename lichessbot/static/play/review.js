/** The analysis after a game: the graph, the mistakes by name, and what would have been better. */

import { byId, make, setAttribute, setText, showList } from '../common/dom.js';
import { makeEvaluationGraph } from '../common/graph.js';

const KINDS = { inaccuracy: 'Inaccuracies', mistake: 'Mistakes', blunder: 'Blunders' };

let graph = null;
let drawn = '';

/** Show an analysis with the position of a ply; null hides it. `onPly` is asked to show another one. */
export function showReview(game, analysis, ply, onPly) {
  byId('review').hidden = byId('verdict').hidden = !analysis;
  if (!analysis) return;
  const { scores, positions, fault, mistakes } = analysis;
  setText(byId('progress'), analysis.isOver ? '' : `${scores.length} of ${positions} positions`);
  setText(byId('fault'), fault ? `The analysis failed: ${fault}` : '');
  graph ??= makeEvaluationGraph(byId('graph'), onPly);
  if (drawn !== `${analysis.id} ${scores.length}`) {
    drawn = `${analysis.id} ${scores.length}`;
    const missing = Array.from({ length: positions - scores.length }, (_, index) => scores.length + index);
    graph.show([...scores, ...missing.map((it) => ({ ply: it, score_cp: null, mate_in: null }))]);
    showSummary(game, analysis);
    showMistakes(game, mistakes, onPly);
  }
  graph.select(ply);
  const mistake = mistakes.find((it) => it.ply === ply);
  const move = ply ? moveText(game, mistake ?? { ply }) : 'Start';
  setText(byId('verdict'), `${move} (${scores[ply]?.text ?? '…'}) ${mistake?.text ?? ''}`);
  for (const button of byId('mistakes').querySelectorAll('button')) {
    setAttribute(button, 'aria-current', button.dataset.ply === String(ply) && 'true');
  }
}

function showSummary(game, { counts, averageLoss }) {
  const row = (name, cells, tag = 'td') => make('tr', {}, make('th', { scope: 'row' }, name),
    cells.map((cell) => make(tag, { class: 'number', scope: tag === 'th' && 'col' }, String(cell))));
  byId('summary').replaceChildren(
    row('', ['White', 'Black'], 'th'),
    ...Object.entries(KINDS).map(([kind, name]) => row(name, [counts.white[kind], counts.black[kind]])),
    row('Average centipawn loss', [averageLoss.white, averageLoss.black]),
  );
}

function showMistakes(game, mistakes, onPly) {
  showList(byId('mistakes'), mistakes, (it) => `${game.id} ${it.ply}`, (it) => {
    const open = { 'data-ply': it.ply, onclick: () => onPly(it.ply) };
    return make('li', {}, make('button', open, make('b', { class: it.kind }, moveText(game, it)), ` ${it.text}`));
  });
}

/** Return a move as a score sheet has it: `12. Nf3?!`, or `12… Nf6` for Black. */
function moveText(game, { ply, glyph = '' }) {
  const { number, color, san } = game.moves[ply - 1];
  return `${number}${color === 'white' ? '.' : '…'} ${san}${glyph}`;
}

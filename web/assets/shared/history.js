// @ts-check

/**
 * What a recorded history says, and its lines on a chart. The functions are pure. The story of a board and the page of a
 * member use them.
 *
 * A place is the position among the entries of a step, from 1: other than ranks, places differ between equals.
 *
 * @typedef {{ rank: number, member: string, score: number, columns?: { [name: string]: number } }} Entry
 *
 * It holds from `at` on, until the next step; gapFrom: from then until `at` the state is not known
 * @typedef {{ at: number, gapFrom?: number, entries: readonly Entry[] }} Step
 *
 * The last step holds until `until` at least. Times are in ms since 1970
 * @typedef {{ steps: readonly Step[], until: number }} History
 *
 * A member's place from one change to the next; OUTSIDE: it is not among the first entries
 * @typedef {{ from: number, to: number, place: number }} Stretch
 */

/** Place of a member that comes to the first entries or leaves them. */
export const OUTSIDE = 0;

/**
 * @param {{ until: string | null, steps: { at: string, gap_from?: string, entries: Entry[] }[] }} answer of the server
 * @returns {History}
 */
export function historyOf({ until, steps }) {
  return {
    until: until ? Date.parse(until) : 0,
    steps: steps.map(({ at, gap_from, entries }) => ({ at: Date.parse(at), ...(gap_from && { gapFrom: Date.parse(gap_from) }), entries })),
  };
}

/**
 * @param {string} member
 * @param {{ until: string | null, steps: { at: string, gap_from?: string, rank: number | null, score: number | null }[] }} answer of the
 *   server, about the member
 * @returns {History} with the member alone
 */
export function memberHistoryOf(member, { until, steps }) {
  return historyOf({
    until,
    steps: steps.map(({ rank, score, ...step }) => ({ ...step, entries: rank === null ? [] : [{ rank, member, score: score ?? 0 }] })),
  });
}

/**
 * @param {History} history
 * @param {History} later begins with a step that `history` has, or with later ones
 * @returns {History}
 */
export function join(history, later) {
  const last = history.steps.at(-1)?.at ?? 0;
  return { steps: [...history.steps, ...later.steps.filter(({ at }) => at > last)], until: later.until };
}

/**
 * @param {History} history
 * @param {number} time
 * @returns {Step | undefined} the step in force; none before the first one and in a gap
 */
export function stepAt({ steps }, time) {
  let low = 0;
  let high = steps.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (steps[middle].at <= time) low = middle + 1;
    else high = middle;
  }
  const next = steps[low];
  return next?.gapFrom !== undefined && next.gapFrom <= time ? undefined : steps[low - 1];
}

/**
 * @param {History} history
 * @param {number} i index of a step
 * @returns {number} until when the step holds
 */
function endOf({ steps, until }, i) {
  const next = steps[i + 1];
  return next ? (next.gapFrom ?? next.at) : Math.max(until, steps[i].at);
}

/**
 * @param {History} history
 * @param {number} width ms
 * @returns {History} of all steps within one multiple of `width` only the last, so that lines that cross often stay
 *   legible. The edges of gaps stay
 */
export function thin({ steps, until }, width) {
  return {
    until,
    steps: steps.filter(({ at, gapFrom }, i) => {
      const next = steps[i + 1];
      return (
        i === 0 || !next || gapFrom !== undefined || next.gapFrom !== undefined || Math.floor(next.at / width) !== Math.floor(at / width)
      );
    }),
  };
}

/**
 * @param {History} history
 * @returns {{ from: number, to: number }[]}
 */
export function gapsOf({ steps }) {
  return steps.flatMap(({ at, gapFrom }) => (gapFrom === undefined ? [] : [{ from: gapFrom, to: at }]));
}

/**
 * @param {History} history
 * @returns {{ from: number, to: number }[]} the times without entries: in the history of one member, when it was not among the first
 */
export function absencesOf(history) {
  return history.steps.flatMap(({ at, entries }, i) => (entries.length > 0 ? [] : [{ from: at, to: endOf(history, i) }]));
}

/**
 * @param {History} history
 * @param {(entry: Entry, index: number) => number} [placeOf]
 * @returns {Map<string, Stretch[][]>} of each member its runs. A run ends at a gap, and where the member is outside for
 *   more than a step; it begins and ends outside if the member came and left then
 */
export function runsOf(history, placeOf = (_, index) => index + 1) {
  const { steps } = history;
  /** @type {Map<string, Stretch[][]>} */
  const runs = new Map();
  steps.forEach(({ at, gapFrom, entries }, i) => {
    const next = steps[i + 1];
    const to = endOf(history, i);
    entries.forEach((entry, index) => {
      const { member } = entry;
      const place = placeOf(entry, index);
      const own = runs.get(member) ?? [];
      runs.set(member, own);
      const run = own.at(-1);
      const last = run?.at(-1);
      if (run && last?.to === at && last.place === place) last.to = to;
      else if (run && last?.to === at) run.push({ from: at, to, place });
      else
        own.push([...(i > 0 && gapFrom === undefined ? [{ from: steps[i - 1].at, to: at, place: OUTSIDE }] : []), { from: at, to, place }]);
    });
    if (!next || next.gapFrom !== undefined) return;
    const stays = new Set(next.entries.map(({ member }) => member));
    for (const { member } of entries)
      if (!stays.has(member))
        runs
          .get(member)
          ?.at(-1)
          ?.push({ from: next.at, to: endOf(history, i + 1), place: OUTSIDE });
  });
  return runs;
}

/**
 * @param {readonly Stretch[]} run
 * @param {(time: number) => number} x
 * @param {(place: number) => number} y also of OUTSIDE
 * @param {number} curve the greatest width of a change of place. A change ends at its time
 * @returns {string} the path of the run: flat lines, and a curve for each change
 */
export function pathOf(run, x, y, curve) {
  const round = (/** @type {number} */ n) => Math.round(n * 10) / 10;
  let path = '';
  run.forEach(({ from, to, place }, i) => {
    const next = run[i + 1];
    const end = x(to);
    const start = next ? Math.max(x(from), end - curve) : end;
    if (i === 0) path = `M${round(place === OUTSIDE ? start : x(from))} ${round(y(place))}`;
    if (place !== OUTSIDE || (i > 0 && next)) path += `H${round(start)}`;
    if (!next) return;
    const middle = round((start + end) / 2);
    path += `C${middle} ${round(y(place))} ${middle} ${round(y(next.place))} ${round(end)} ${round(y(next.place))}`;
  });
  return path;
}

/**
 * @param {History} history
 * @returns {({ from: number, to: number } & Entry)[]} who was first, and when; the score is the last one before `to`
 */
export function leadersOf(history) {
  /** @type {({ from: number, to: number } & Entry)[]} */
  const leaders = [];
  history.steps.forEach(({ at, entries: [first] }, i) => {
    if (!first) return;
    const to = endOf(history, i);
    const last = leaders.at(-1);
    if (last?.member === first.member && last.to === at) Object.assign(last, first, { to });
    else leaders.push({ ...first, from: at, to });
  });
  return leaders;
}

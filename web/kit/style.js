// @ts-check

/**
 * The style sheet of `<live-leaderboard>`, which all elements of a page share. (A `<style>` in
 * the shadow root would need 'unsafe-inline' in the page's policy.)
 *
 * The names of internal properties start with an underscore. Otherwise a page that sets
 * `--rankcast-ink: var(--ink)` on the element would make a cycle.
 *
 * The list reserves room for the followed member's row, in it or below it, so that nothing
 * jumps. Below the list, that row stays in view while the list scrolls. The announcer is
 * visible to screen readers only. `contain` keeps the element from painting over the page.
 *
 * A score never wraps: long scores have a smaller font.
 *
 * Browsers receive comments within the sheet, so it has none.
 */
export const sheet = new CSSStyleSheet();

sheet.replaceSync(`
:host {
  --_ink: var(--rankcast-ink, light-dark(#1d211f, #e9ebe6));
  --_quiet: var(--rankcast-quiet, light-dark(#646a66, #9aa19c));
  --_line: var(--rankcast-line, light-dark(#e7e5de, #2a2f2c));
  --_surface: var(--rankcast-surface, light-dark(#fffefb, #181b1a));
  --_accent: var(--rankcast-accent, light-dark(#17694b, #6cc79f));
  --_warn: var(--rankcast-warn, light-dark(#a4561b, #e2a063));
  --_me: var(--rankcast-me, color-mix(in srgb, var(--_accent) 9%, var(--_surface)));
  --_gold: var(--rankcast-gold, light-dark(#f1d48a, #d9b45a));
  --_silver: var(--rankcast-silver, light-dark(#d9dddd, #b3bab9));
  --_bronze: var(--rankcast-bronze, light-dark(#e6bf9e, #c08f67));
  --_row-height: var(--rankcast-row-height, 2.875em);
  contain: paint;
  display: block;
  color: var(--_ink);
  background: var(--_surface);
  font-variant-numeric: tabular-nums lining-nums;
  line-height: 1.3;
}
:host([hidden]) { display: none; }
[hidden] { display: none !important; }

:is([part=header], [part=period]) { display: flex; flex-wrap: wrap; justify-content: space-between; gap: 0.125em 1em; }
[part=header] { padding: 0 0.875em 0.875em; color: var(--_quiet); font-size: 0.875em; }
[part=period] { flex: 100%; }
[part=period-name] { color: var(--_ink); font-weight: 600; }
[part=connection] { display: inline-flex; align-items: center; gap: 0.625em; }
[part=dot] { inline-size: 0.5em; block-size: 0.5em; border-radius: 50%; background: var(--_quiet); }
:host([data-state=live]:not([data-final])) [part=dot] {
  background: var(--_accent);
  box-shadow: 0 0 0 0.1875em color-mix(in srgb, var(--_accent) 20%, transparent);
}
:host(:is([data-state=stale], [data-state=away])) {
  [part=dot] { background: var(--_warn); }
  [part=state] { color: var(--_warn); }
}

[part=list] {
  position: relative;
  min-block-size: calc(var(--_rows, 0) * var(--_row-height) + var(--_below, 0) * 0.5em);
  margin: 0;
  padding: 0;
  list-style: none;
  transition: opacity 300ms 300ms, filter 300ms 300ms;
}
:host(:is([data-state=stale], [data-state=away], [data-state=stopped])) [part=list] { opacity: 0.6; filter: grayscale(1); }

[part~=row] {
  position: relative;
  contain: content;
  box-sizing: border-box;
  display: grid;
  grid-auto-flow: column;
  grid-template-columns: max(2em, calc(var(--_rank) * 1ch + 0.75em)) minmax(min(4em, 40%), 1fr) minmax(min-content, auto);
  align-content: center;
  align-items: center;
  column-gap: 0.75em;
  block-size: var(--_row-height);
  padding-inline: 0.5em 0.875em;
  border-block-start: 1px solid var(--_line);
  background: var(--_surface);
}

:not([data-below]) + [data-below] { margin-block-start: 0.5em; }
[data-field] { unicode-bidi: isolate; }
[part~=row] > :only-child { grid-column: 1 / -1; }
[part~=me][data-below] { position: sticky; inset-block-end: 0.5em; box-shadow: 0 0 0.5em 0.25em var(--_surface); }
[part~=me] { z-index: 2 !important; border-radius: 0.5em; background: var(--_me); }
[part~=me], [part~=me] + [part~=row] { border-block-start-color: transparent; }

[part=rank] {
  justify-self: center;
  box-sizing: border-box;
  min-inline-size: 1.875em;
  padding: 0.25em;
  border-radius: 1em;
  color: var(--_quiet);
  text-align: center;
}
[data-podium] [part=rank] { color: #2a2415; background: var(--_gold); }
[data-podium="2"] [part=rank] { background: var(--_silver); }
[data-podium="3"] [part=rank] { background: var(--_bronze); }

[part=who] { display: grid; line-height: 1.2; }
:is([part=member], [part=gap]) { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
[part=member] { justify-self: start; max-inline-size: 100%; unicode-bidi: plaintext; text-align: match-parent; }
:is([data-podium], [part~=me]) :is([part=rank], [part=member], [part=score]) { font-weight: 600; }
[part~=me]:not([data-podium]) [part=rank] { color: var(--_ink); }
[part~=me][data-absent] [part=member] { color: var(--_quiet); }

[data-avatar] [part=who] { grid-template: 1fr auto / auto minmax(0, 1fr); align-items: center; column-gap: 0.625em; }
[part=avatar] {
  grid-row: 1 / span 2;
  inline-size: 1.75em;
  block-size: 1.75em;
  border-radius: 50%;
  object-fit: cover;
  background: var(--_line);
}
[data-avatar] [part=gap] { grid-column: 2; }

[part=gap] { color: var(--_quiet); font-size: 0.8125em; }
[part=gap]:empty { display: none; }

[part=score] { position: relative; isolation: isolate; font-size: min(1em, 11em / var(--_score, 1)); line-height: 1; text-align: end; }
[part=score]::before {
  content: "";
  position: absolute;
  z-index: -1;
  inset: -0.3em -0.5em;
  border-radius: 0.375em;
  background: color-mix(in srgb, var(--_accent) 22%, transparent);
  opacity: 0;
}
[data-changed] [part=score]::before { animation: changed-1 900ms ease-out; }
[data-changed="2"] [part=score]::before { animation-name: changed-2; }
@keyframes changed-1 { from { opacity: 1; } }
@keyframes changed-2 { from { opacity: 1; } }

[part=note] { margin: 0; padding: 2.5em 1em; color: var(--_quiet); text-align: center; }
[part=note]:empty { display: none; }
[part=list]:not(:empty) + [part=note] { padding-block: 1em; }

[part=announcer] { position: absolute; margin: 0; inline-size: 1px; block-size: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }

@media (prefers-reduced-motion: reduce) {
  [part=list] { transition: none; }
}
@media (forced-colors: active) {
  [part=dot] { forced-color-adjust: none; }
  [data-podium] [part=rank] { color: inherit; border: 1px solid; }
  [part~=me] { outline: 1px solid Highlight; outline-offset: -1px; }
}
`);

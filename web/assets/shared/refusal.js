// @ts-check

/** The text in place of data that the reader may not see. The pages with boards use it. */

import { text } from './texts.js';

/**
 * @param {unknown} problem an HTTPError (api.js), a problem of the kit, or another error
 * @returns {string} the text for the reader, if the reader may not see something; else ''
 */
export function refusalText(problem) {
  const code = problem instanceof Error && 'code' in problem ? problem.code : '';
  return code === 'unauthorized' ? text('needs_token') : code === 'forbidden' ? text('token_forbids') : '';
}

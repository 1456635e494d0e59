// @ts-check

/** The definitions of events and of the boards that they update, and what these say about a kind of members. */

import { Problem, request } from './api.js';
import { session } from './session.js';

/**
 * @typedef {{ board: string, kind: string, mode: string, union?: unknown, history?: string }} Board
 * @typedef {import('./event-form.js').EventDefinition} EventDefinition
 * @typedef {import('./event-form.js').Update} Update
 */

export class Definitions {
  /**
   * @param {Board[]} boards
   * @param {EventDefinition[]} events
   * @param {string[]} kinds
   */
  constructor(boards, events, kinds) {
    this.events = events;
    const named = (session?.kinds ?? []).filter((pattern) => !pattern.includes('*'));
    /** Those of the boards, and those that the operator's key names. */
    this.kinds = [...new Set([...kinds, ...named])].sort();
    this.bySlot = new Map(boards.map((board) => [slotOf(board.board), board]));
  }

  /**
   * @param {AbortSignal} signal
   * @returns {Promise<Definitions>} those that the operator may read; none for a key without the scope read
   */
  static async read(signal) {
    const none = (/** @type {unknown} */ error) => {
      if (error instanceof Problem && error.status === 403) return {};
      throw error;
    };
    const [{ boards = [] }, { events = [] }, { kinds = [] }] = await Promise.all(
      ['v1/boards?event=*', 'v1/events', 'v1/kinds'].map((path) => request('GET', path, { signal }).catch(none)),
    );
    return new Definitions(boards, events, kinds);
  }

  /**
   * @param {string} name of a board, an instance or a template of them
   * @returns {Board | undefined} undefined: there is none that the operator may read
   */
  boardOf(name) {
    return this.bySlot.get(slotOf(name));
  }

  /**
   * @param {string} kind
   * @returns {{ event: EventDefinition, own: Update[], others: Update[] }[]} the events that count for members of the kind, with the
   * updates that do, and those that count for members of other kinds
   */
  eventsOf(kind) {
    const ofKind = (/** @type {Update} */ { board }) => this.boardOf(board)?.kind === kind;
    return this.events
      .map((event) => ({ event, own: event.updates.filter(ofKind), others: event.updates.filter((update) => !ofKind(update)) }))
      .filter(({ own }) => own.length > 0);
  }
}

/**
 * @param {string} name of a board, a family, an instance or a template
 * @returns {string} what tells its definition from others: its first part, and the number of its parts
 */
function slotOf(name) {
  const parts = name.split('@')[0].split(':');
  return `${parts[0]}:${parts.length}`;
}

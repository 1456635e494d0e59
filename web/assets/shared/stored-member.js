// @ts-check

/**
 * The member that stands for the reader, kept on this device: the one that a board's page follows, and the viewer of the
 * page of an event. Where the storage is not allowed, only the URL holds it.
 */

import { ROOT } from './links.js';
import { memberProblem } from './member-id.js';

/** @param {string} role what the member is for the reader: `me`, or `follow` and a kind */
const keyOf = (role) => `rankcast ${role} ${ROOT.pathname}`;

/**
 * @param {string} role
 * @returns {string} '': none
 */
export function storedMember(role) {
  try {
    const member = localStorage.getItem(keyOf(role)) ?? '';
    return memberProblem(member) ? '' : member;
  } catch {
    return '';
  }
}

/**
 * @param {string} role
 * @param {string} member '': none
 */
export function storeMember(role, member) {
  try {
    if (member) localStorage.setItem(keyOf(role), member);
    else localStorage.removeItem(keyOf(role));
  } catch {
    // The URL holds the member.
  }
}

// @ts-check

/** The dialog that asks before the console does something. */

import { createElement, showModal } from '../shared/dom.js';
import { button, field, input, showProblem } from './form.js';

/**
 * @typedef {{ title: string, content?: (Node | string)[], action: string, danger?: boolean, reason?: 'optional' | 'required',
 *   typed?: string, submit: (values: FormData) => Promise<void> }} Question
 * content: text becomes a paragraph. reason: asks for a reason, which the audit shows. typed: the operator must type this name.
 * submit: does it; the dialog shows its Problem and stays open.
 */

/** The dialog that asks now. @type {HTMLDialogElement | undefined} */
let asked;
/** Whether it is closed until the operator has signed in again. */
let isAside = false;

/**
 * @param {Question} question
 * @returns {Promise<boolean>} whether it was done; one question at a time: another one is not asked
 */
export async function ask({ title, content = [], action, danger, reason, typed, submit }) {
  if (asked?.open || isAside) return false;
  const dialog = createElement('dialog', 'dialog');
  const form = createElement('form', 'dialog-form');
  const heading = createElement('h2', '', title);
  heading.id = 'dialog-title';
  dialog.setAttribute('aria-labelledby', heading.id);
  form.append(heading, ...content.map((part) => (typeof part === 'string' ? createElement('p', '', part) : part)));
  if (reason) {
    const control = input('reason', { required: reason === 'required', maxLength: 256 });
    form.append(field(reason === 'required' ? 'Reason' : 'Reason (optional)', control, 'The audit shows it with your key’s name.'));
  }
  const go = createElement('button', `button ${danger ? 'danger' : 'primary'}`, action);
  if (typed !== undefined) {
    const control = input('typed');
    const label = createElement('p', 'typed', 'To go on, type the name ', createElement('bdi', 'name', typed));
    form.append(label, field('Name', control));
    go.disabled = true;
    control.addEventListener('input', () => (go.disabled = control.value !== typed));
  }
  const actions = createElement('div', 'dialog-actions', button('Cancel', () => dialog.close()), go);
  form.append(actions);
  dialog.append(form);
  document.body.append(dialog);
  let done = false;
  let sent = Promise.resolve();
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    if (!go.disabled) sent = send();
  });
  async function send() {
    go.disabled = true;
    showProblem(form);
    try {
      await submit(new FormData(form));
      done = true;
      dialog.close();
    } catch (error) {
      showProblem(form, error);
    }
    go.disabled = false;
  }
  asked = dialog;
  showModal(dialog);
  return new Promise((resolve) => {
    dialog.addEventListener('close', () => {
      if (isAside || dialog.open) return;
      dialog.remove();
      if (asked === dialog) asked = undefined; // this event comes later than the close, and another question may ask by then
      sent.then(() => resolve(done)); // what was sent before a Cancel may be done
    });
  });
}

/** Closes the dialog that asks, which covers the sign-in form. It stays as it is. */
export function setAside() {
  isAside = asked?.open ?? false;
  asked?.close();
}

/** @param {boolean} stays whether the dialog that was set aside asks again; else it goes */
export function endAside(stays) {
  if (!asked || !isAside) return;
  isAside = false;
  if (stays) return showModal(asked);
  asked.remove();
  asked = undefined;
}

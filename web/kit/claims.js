// @ts-check

/**
 * What a credential says of itself.
 *
 * @typedef {{ exp?: unknown, sub?: unknown, rankcast?: { events?: unknown } | null }} Claims
 */

/**
 * @param {string} token
 * @returns {Claims} the claims of a JWT (RFC 7519), which nothing has verified; {} for other tokens
 */
export function claimsOf(token) {
  try {
    const [, payload] = token.split('.');
    const text = atob(payload.replace(/-/g, '+').replace(/_/g, '/'));
    return Object(JSON.parse(new TextDecoder().decode(Uint8Array.from(text, (char) => char.charCodeAt(0)))));
  } catch {
    return {};
  }
}

/**
 * @param {string} credential
 * @returns {boolean} whether it is a ticket, not a token
 */
export function isTicket(credential) {
  return credential.startsWith('rct_');
}

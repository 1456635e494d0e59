// @ts-check

/** Rankcast for pages of other sites. */

export {};

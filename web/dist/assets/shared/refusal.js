import{text as n}from"./texts.js";export function refusalText(e){const o=e instanceof Error&&"code"in e?e.code:"";return o==="unauthorized"?n("needs_token"):o==="forbidden"?n("token_forbids"):""}

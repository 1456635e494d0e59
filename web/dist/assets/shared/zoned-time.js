import{dates as t}from"../../kit/format.js";export function zonedTime(e){return t.format(new Date(e))}

const e=matchMedia("(prefers-reduced-motion: reduce)");export const isCalm=()=>e.matches||document.documentElement.dataset.motion==="calm";

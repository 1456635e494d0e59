// @ts-check
import '../kit/rankcast.js';

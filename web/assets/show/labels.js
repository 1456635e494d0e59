// @ts-check

/** The language of labels that the server has chosen for the page. It counts before the kit renders a board. */

import { setLabelLanguage } from '../../kit/format.js';

const { labels } = document.documentElement.dataset;
if (labels) setLabelLanguage(labels);

// @ts-check

/** The script of the page that answers for a path without a page, and for a board that does not exist. */

import { byId } from '../shared/dom.js';
import { updateLanguageLink } from '../shared/links.js';
import '../shared/settings.js';

updateLanguageLink(byId('other-language', HTMLAnchorElement));

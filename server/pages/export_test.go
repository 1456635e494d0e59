package pages

// DocSlugs are the pages of the documentation in the order of the menu.
var DocSlugs = docSlugs

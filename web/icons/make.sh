#!/bin/sh
# Makes the icons of the web manifest, assets/shared/icon-*.png, of assets/shared/favicon.svg. Needs Chromium.
# Run it here: sh make.sh
set -eu
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT

draw() { # NAME SIZE STYLE-OF-THE-BODY SIZE-OF-THE-MARK
	printf '<!doctype html><style>body{margin:0;inline-size:%spx;block-size:%spx;display:grid;place-items:center;%s}svg{inline-size:%s;block-size:%s}</style>' "$2" "$2" "$3" "$4" "$4" >"$work/icon.html"
	cat ../assets/shared/favicon.svg >>"$work/icon.html"
	chromium --headless --no-sandbox --disable-gpu --user-data-dir="$work/profile" --default-background-color=00000000 --hide-scrollbars \
		--window-size="$2,$2" --screenshot="../assets/shared/$1.png" "file://$work/icon.html"
}

# Systems cut a maskable icon, and that of iOS, into a shape of their own: the green fills the square.
draw icon-192 192 '' 100%
draw icon-512 512 '' 100%
draw icon-maskable 512 'background:#17694b' 87.5%
draw icon-ios 180 'background:#17694b' 100%

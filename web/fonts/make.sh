#!/bin/sh
# Makes assets/shared/archivo.woff2 of the static fonts in the npm package @expo-google-fonts/archivo.
# Needs npm, and Debian's packages python3-fonttools and python3-brotli. Run it here: sh make.sh
set -eu
python=/usr/bin/python3
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
npm pack --silent --pack-destination "$work" @expo-google-fonts/archivo@0.4.2 >/dev/null
tar -xzf "$work"/*.tgz -C "$work"

unicodes=0020-007E,00A0-017F,01A0-01A1,01AF-01B0,0218-021B,1E80-1E85,1E9E,1EA0-1EF9,02C6,02DA,02DC,2010-2014,2018-201E,2020-2022,2026,2030,2032-2033,2039-203A,20A0-20BF,2122,2190-2193,2212
for weight in 500Medium 800ExtraBold; do
	"$python" -m fontTools.subset "$work/package/$weight/Archivo_$weight.ttf" --unicodes=$unicodes --no-hinting --desubroutinize \
		--layout-features=ccmp,locl,kern,mark,tnum,lnum --name-IDs=0,1,2,5,13,14 --glyph-names --output-file="$work/$weight.ttf"
done

"$python" - "$work" <<'P'
import sys
from fontTools import varLib
from fontTools.designspaceLib import DesignSpaceDocument
folder = sys.argv[1]
space = DesignSpaceDocument()
space.addAxisDescriptor(tag='wght', name='Weight', minimum=500, default=500, maximum=800)
for weight, name in (500, '500Medium'), (800, '800ExtraBold'):
    space.addSourceDescriptor(path=f'{folder}/{name}.ttf', location={'Weight': weight})
font, _, _ = varLib.build(space)
font['post'].formatType = 3
font.flavor = 'woff2'
font.save('../assets/shared/archivo.woff2')
P

#!/bin/sh
# Makes the fonts of this folder of those in Debian's packages fonts-noto-core and fonts-noto-cjk.
# Needs the package python3-fonttools. Run it here: sh subset.sh
set -eu
python=/usr/bin/python3
noto=/usr/share/fonts/truetype/noto
cjk=/usr/share/fonts/opentype/noto/NotoSansCJK-Regular.ttc
text=$(mktemp)
trap 'rm -f "$text"' EXIT

subset() { # FROM TO UNICODES [OPTION…]
	from=$1 to=$2 unicodes=$3
	shift 3
	"$python" -m fontTools.subset "$from" --unicodes="$unicodes" --no-hinting --name-IDs=0,1,2,5,13,14 --flavor=woff --output-file="$to" "$@"
}

latin=0020-007E,00A0-024F,0259,02B0-02FF,0300-036F,0370-03FF,0400-052F,1E00-1EFF,1F00-1FFF,2010-2027,2030-205E,2070-209C,20A0-20BF,2100-214F,2150-215F,2190-2193,2212,221E,2260-2265,25CC,FB00-FB06,FFFD
subset $noto/NotoSans-Regular.ttf latin.woff $latin --layout-features=ccmp,locl,mark,mkmk,kern
subset $noto/NotoSans-Bold.ttf latin-bold.woff $latin --layout-features=ccmp,locl,mark,mkmk,kern
subset $noto/NotoSansHebrew-Regular.ttf hebrew.woff 0020,00A0,0590-05FF,20AA,25CC,FB1D-FB4F
subset $noto/NotoSansArabic-Regular.ttf arabic.woff 0020,00A0,0600-06FF,0750-077F,200C-200D,25CC
subset $noto/NotoSansDevanagari-Regular.ttf devanagari.woff 0020,00A0,0900-097F,200C-200D,20B9,25CC
subset $noto/NotoSansThai-Regular.ttf thai.woff 0020,00A0,0E00-0E7F,25CC
subset $noto/NotoSansSymbols2-Regular.ttf symbols.woff 0020,2600-27BF,2B05-2B07,2B1B-2B1C,2B50,2B55

# The characters of level 1 of GB 2312, JIS X 0208 and Big5, and the syllables of KS X 1001.
"$python" - >"$text" <<'P'
def table(encoding, first, last, low):
    for high in range(first, last + 1):
        for byte in low:
            try:
                yield bytes([high, byte]).decode(encoding)
            except UnicodeDecodeError:
                pass
double = range(0xA1, 0xFF)
print(''.join(sorted({
    *table('gb2312', 0xB0, 0xD7, double), *table('euc_jp', 0xB0, 0xCF, double), *table('euc_kr', 0xB0, 0xC8, double),
    *table('big5', 0xA4, 0xC6, [*range(0x40, 0x7F), *double]),
})))
P
subset $cjk cjk.woff 0020,3000-303F,3040-30FF,3131-318E,FF01-FFEE --font-number=2 --text-file="$text" --layout-features= --drop-tables+=VORG,vhea,vmtx,BASE,GPOS,GSUB,DSIG --desubroutinize # 5 % less, compressed

/** Dholuo. docs/guides/numbers.md explains the lines and the marks. */
export const DHOLUO = `
language luo: head_first

unit 1 counting: achiel
unit 2 counting: ariyo aryo?
unit 3 counting: adek
unit 4 counting: ang'wen angwen? ng'wen?
unit 5 counting: abich
unit 6 counting: auchiel uchiel
unit 7 counting: abiriyo abiryo abirio?
unit 8 counting: aboro
unit 9 counting: ochiko

ten 10: apar
tens counting: piero pyero?
hundred one counting: mia
scale 1000: alufu aluf? elfu? gana
scale 1000000: milion? million? milioni? tara
scale 1000000000: bilion? billion? bilioni?
and: gi kod ga and?
elided: g
or: kata nyaka
particle: go gi ni no

zero: nono zero? ziro?
point: nukta point
half: nus nusu?
currency KES: siling? siling' silinge silingi? shilingi? bob?
currency USD: dola?
percent before: asilimia
hour: sa saa
`;

/** English, for numbers that speakers borrow. docs/guides/numbers.md explains the lines and the marks. */
export const ENGLISH = `
language en: multiplier_first

unit 1 counting: one
unit 2 counting: two
unit 3 counting: three
unit 4 counting: four
unit 5 counting: five
unit 6 counting: six
unit 7 counting: seven
unit 8 counting: eight
unit 9 counting: nine
ten 10: ten
ten 11: eleven
ten 12: twelve
ten 13: thirteen
ten 14: fourteen
ten 15: fifteen
ten 16: sixteen
ten 17: seventeen
ten 18: eighteen
ten 19: nineteen
ten 20: twenty
ten 30: thirty
ten 40: forty fourty?
ten 50: fifty
ten 60: sixty
ten 70: seventy
ten 80: eighty
ten 90: ninety
hundred many: hundred
scale 1000: thousand
scale 1000000: million
scale 1000000000: billion
and: and
or: or to

zero: zero oh o
repeat 2: double
repeat 3: triple
point: point
currency KES: shillings shilling bob
currency USD: dollars
percent after: percent per_cent
`;

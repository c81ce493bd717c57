/** Swahili, for numbers that speakers borrow. docs/guides/numbers.md explains the lines and the marks. */
export const SWAHILI = `
language sw: head_first

unit 1 counting ji/ma: moja
unit 1 m/wa m/mi: mmoja
unit 1 ki/vi: kimoja
unit 2 counting: mbili
unit 2 m/wa: wawili
unit 2 m/mi: miwili
unit 2 ji/ma: mawili
unit 2 ki/vi: viwili
unit 3 counting: tatu
unit 3 m/wa: watatu
unit 3 m/mi: mitatu
unit 3 ji/ma: matatu
unit 3 ki/vi: vitatu
unit 4 counting: nne ine?
unit 4 m/wa: wanne
unit 4 m/mi: minne
unit 4 ji/ma: manne
unit 4 ki/vi: vinne
unit 5 counting: tano
unit 5 m/wa: watano
unit 5 m/mi: mitano
unit 5 ji/ma: matano
unit 5 ki/vi: vitano
unit 6 counting m/wa m/mi ji/ma ki/vi: sita
unit 7 counting m/wa m/mi ji/ma ki/vi: saba
unit 8 counting: nane
unit 8 m/wa: wanane
unit 8 m/mi: minane
unit 8 ji/ma: manane
unit 8 ki/vi: vinane
unit 9 counting m/wa m/mi ji/ma ki/vi: tisa

ten 10 joinless: kumi
ten 20 joinless: ishirini ishirin?
ten 30 joinless: thelathini
ten 40 joinless: arobaini arubaini
ten 50 joinless: hamsini
ten 60 joinless: sitini
ten 70 joinless: sabini
ten 80 joinless: themanini thamanini
ten 90 joinless: tisini
hundred one counting: mia
scale 1000: elfu alfu?
scale 100000: laki
scale 1000000: milioni
scale 1000000000: bilioni
and: na
or: au ama hadi

zero: sifuri zero ziro?
point: nukta pointi
half: nusu
currency KES: shilingi bob?
currency USD: dola
percent before: asilimia
hour: saa
`;

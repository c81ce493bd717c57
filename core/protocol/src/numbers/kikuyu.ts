/** Kikuyu. docs/guides/numbers.md explains the lines and the marks. */
export const KIKUYU = `
language ki: head_first

unit 1 counting: ĩmwe imwe*
unit 1 1/2 3/4: ũmwe umwe
unit 1 5/6: rĩmwe rimwe
unit 1 7/8: kĩmwe kimwe
unit 1 11/10: rũmwe
unit 1 12/13: kamwe
unit 1 15/6: kũmwe
unit 2 counting 7/8 11/10: igĩrĩ igirĩ igĩri igiri? ĩgĩrĩ
unit 2 1/2: eerĩ erĩ*
unit 2 3/4: ĩĩrĩ ĩrĩ* irĩ* ĩri* iri* ĩĩri
unit 2 5/6 15/6: meerĩ merĩ meri meeri
unit 2 12/13: twĩrĩ twĩĩrĩ tũĩrĩ?
unit 3 counting 7/8 11/10: ithatũ ithatu itatũ
unit 3 1/2: atatũ
unit 3 3/4: ĩtatũ ĩtatu itatu?
unit 3 5/6 15/6: matatũ matatu
unit 3 12/13: tũtatũ?
unit 4 counting 7/8 11/10: inya
unit 4 1/2: ana?*
unit 4 3/4: ĩna* ina*
unit 4 5/6 15/6: mana*
unit 4 12/13: tũna?*
unit 5 counting 7/8 11/10: ithano
unit 5 1/2: atano
unit 5 3/4: ĩtano itano?
unit 5 5/6 15/6: matano
unit 5 12/13: tũtano
unit 6 counting 7/8 11/10: ithathatũ ithathatu itandatũ?
unit 6 1/2: atandatũ
unit 6 3/4: ĩtandatũ ĩtandatu? itandatu?
unit 6 5/6 15/6: matandatũ matandatu?
unit 6 12/13: tũtandatũ?
unit 7 counting 1/2 3/4 5/6 7/8 11/10 12/13 15/6: mũgwanja mugwanja mũgwaja? mũgwanjaa?
unit 8 counting 7/8 11/10: inyanya
unit 8 1/2: anana
unit 8 3/4: ĩnana inana?
unit 8 5/6 15/6: manana
unit 8 12/13: tũnana?
unit 9 counting 1/2 3/4 5/6 7/8 11/10 12/13 15/6: kenda keenda keda?

ten 10: ikũmi ikumi ĩkũmi
tens 3/4: mĩrongo mirongo miirongo?
hundred one: igana ĩgana
hundred many 5/6: magana
scale 1000: ngiri
scale 1000000: mirioni milioni? million mĩrioni?
scale 1000000000: birioni? bilioni? billion?
and: na and?
of many: ma
of one: rĩa ria ya cia
or: kana nginya
particle: rĩ
ordinal: kerĩ gatatũ gatano gatandatũ kanana
never: na_ĩrĩ_na na_irĩ_na

zero: kĩbũgũ thiro? ziro? zero?
point: gaturumo gaturuma
half: nuthu nusu?
currency KES: ciringi? cirĩngi? shilingi? cilingi? bob?
currency USD: dolari? dora?
percent after: harĩ_igana
hour: thaa ithaa saa?
`;

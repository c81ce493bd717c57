"""Common Kikuyu and Dholuo words for the sentences of the offline CTC test model."""

import random

WORDS = {
    "kik": (
        "mwana nyũmba mũtĩ maaĩ ngũkũ mbũri kahũa mũgũnda rĩu wega nene nini mũno thĩ mũndũ andũ "
        "ng'ombe irio mbura riũa njĩra gĩthomo ibuku mwarimũ thukuru baba maitũ cũcũ guka mũthenya "
        "ũtukũ rũciinĩ hwaĩ-inĩ ũmũthĩ rũciũ ira thoko mbeca wĩra mũrũgamĩrĩri thutha mbere "
        "gũkũ kũu nĩ na kana no tũkĩ athiĩ oka rehe hũra tema rĩma ruga nyua rĩa thoma andĩka "
        "aria igua ona caria gũra endia teithia coka ikara rũgama mwega mũraihu mũkuhĩ itũũra "
        "gĩcagi mũcii riko mũrango kĩondo kĩrĩma rũĩ iria mĩtĩ mahũa macungwa marigũ waru "
        "mboco mĩgũnda ciana atumia arũme mũirĩtu mũthuri thikũ mweri mwaka ihinda"
    ),
    "luo": (
        "nyathi ot yien pi gweno diel chai puodho sani ber maduong' matin ahinya piny dhano ji "
        "dhiang' chiemo koth chieng' yo tiegruok buk japuonj skul baba mama dani kwaro odiechieng' "
        "otieno okinyi odhiambo kawuono kiny nyoro chiro pesa tich jatelo bang'e nyime "
        "ka kacha en gi to kata odhi biro kel goyo tong'o puro tedo madho chamo somo ndiko "
        "wuoyo winjo neno manyo nyiewo uso konyo dok bet chung' maber mabor machiek gweng' "
        "dala agola dhoot kikapu got aora nam yiende maua machunga rabolo rabuon "
        "oganda puothe nyithindo mon chwo nyako jaduong' ndalo dwe higa kinde nyiso paro hero"
    ),
}
SPECIALS = ["<s>", "<pad>", "</s>", "<unk>"]
# The order of the published models: four special tokens, the blank first, then single characters.
CTC_TOKENS = [*SPECIALS, " ", "'", *"abcdefghijklmnopqrstuvwxyz", "ĩ", "ũ"]


def sentence(language: str, rng: random.Random) -> str:
    words = WORDS[language].replace("-", "").split()
    return " ".join(rng.choices(words, k=rng.randint(3, 8)))

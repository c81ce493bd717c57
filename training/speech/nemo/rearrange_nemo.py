"""Reads the parts of NeMo's transducers that `rearranged_encoder` and `rearranged_decoder` take."""

import torch
from nemo.collections.asr.modules import ConformerEncoder
from nemo.collections.asr.parts.submodules.causal_convs import CausalConv1D, CausalConv2D
from nemo.collections.asr.parts.submodules.conformer_modules import ConformerLayer
from nemo.collections.asr.parts.submodules.multi_head_attention import (
    RelPositionMultiHeadAttention,
)
from torch import nn

from ..transducer.model import CHUNK, LEFT, WINDOW
from ..weights.rearranged_decoder import RearrangedDecoder, RearrangedJoiner
from ..weights.rearranged_encoder import DISTANCES, EncoderParts, LayerParts, RearrangedEncoder

CHUNKS_COMPARED = 6  # the cache is full after four
TOLERANCE = 1e-3  # of frames whose values are about 1; float32 sums in another order differ by 1e-5


class CannotRearrange(Exception):
    """Says what is different about this encoder, to complete "because ..."."""


def rearrange_encoder(model, original: nn.Module) -> RearrangedEncoder:
    """Rearranges the model's encoder and compares it with the original, chunk by chunk."""
    rearranged = RearrangedEncoder(encoder_parts(model), model.joint.enc).eval()
    difference = largest_difference(rearranged, original, model.encoder._feat_in)
    if not difference < TOLERANCE:
        raise CannotRearrange(f"its frames would differ by {difference:.1g}")
    return rearranged


def encoder_parts(model) -> EncoderParts:
    encoder = model.encoder
    if type(encoder) is not ConformerEncoder:
        raise CannotRearrange(f"it is a {type(encoder).__name__}")
    if encoder.out_proj is not None or encoder.reduction_position is not None:
        raise CannotRearrange("it projects or reduces the frames after its layers")
    convolutions = [*encoder.pre_encode.conv]
    if not all(isinstance(c, CausalConv2D | nn.Conv2d | nn.ReLU) for c in convolutions):
        raise CannotRearrange("its subsampling has other parts than convolutions and ReLU")
    _, positions = encoder.pos_enc(torch.zeros(1, CHUNK, encoder.d_model), cache_len=LEFT)
    kernel = getattr(model, "prompt_kernel", None)
    return EncoderParts(
        subsampling=convolutions,
        project=encoder.pre_encode.out,
        scale=encoder.xscale or 1.0,
        layers=[layer_parts(layer) for layer in encoder.layers],
        positions=positions[0, :DISTANCES].clone(),
        prompt=None if kernel is None else _prompt_parts(kernel),
    )


def layer_parts(layer: ConformerLayer) -> LayerParts:
    attention, conv = layer.self_attn, layer.conv
    if type(attention) is not RelPositionMultiHeadAttention:
        raise CannotRearrange(f"its attention is a {type(attention).__name__}")
    if not isinstance(conv.batch_norm, nn.LayerNorm):
        raise CannotRearrange(f"its convolutions have {conv.norm_type}, not layer_norm")
    if conv.pointwise_activation != "glu_" or type(conv.depthwise_conv) is not CausalConv1D:
        raise CannotRearrange("its convolutions have another activation than GLU")
    if layer.is_adapter_available():
        raise CannotRearrange("it has adapters")
    return LayerParts(
        heads=attention.h,
        norm_feed_in=layer.norm_feed_forward1,
        feed_in=(layer.feed_forward1.linear1, layer.feed_forward1.linear2),
        norm_attention=layer.norm_self_att,
        query=attention.linear_q,
        key=attention.linear_k,
        value=attention.linear_v,
        out=attention.linear_out,
        position=attention.linear_pos,
        content_bias=attention.pos_bias_u,
        position_bias=attention.pos_bias_v,
        norm_conv=layer.norm_conv,
        pointwise_in=conv.pointwise_conv1,
        depthwise=conv.depthwise_conv,
        norm_depthwise=conv.batch_norm,
        pointwise_out=conv.pointwise_conv2,
        norm_feed_out=layer.norm_feed_forward2,
        feed_out=(layer.feed_forward2.linear1, layer.feed_forward2.linear2),
        norm_out=layer.norm_out,
    )


def _prompt_parts(kernel: nn.Sequential) -> tuple[nn.Linear, nn.Linear]:
    products = [part for part in kernel if isinstance(part, nn.Linear)]
    if len(products) != 2 or not all(isinstance(p, nn.Linear | nn.ReLU) for p in kernel):
        raise CannotRearrange("its prompt kernel has other parts than two products and a ReLU")
    return products[0], products[1]


@torch.no_grad()
def largest_difference(rearranged: RearrangedEncoder, original: nn.Module, bins: int) -> float:
    """Returns the largest difference of projected frames over several chunks of two streams."""
    numbers = torch.Generator().manual_seed(7)
    theirs, ours = original.empty_caches(2), rearranged.empty_caches(2)
    prompt = () if rearranged.prompt is None else (torch.tensor([0, 1]),)
    length = torch.full((2,), WINDOW)
    worst = 0.0
    for _ in range(CHUNKS_COMPARED):
        # as loud as log-mel features of speech
        mel = 3 * torch.randn(2, bins, WINDOW, generator=numbers) - 6
        a, _, *theirs = original(mel, length, *theirs, *prompt)
        b, _, *ours = rearranged(mel, length, *ours, *prompt)
        worst = max(worst, float((a - b).abs().max()))
    return worst


def rearrange_decoder(model) -> RearrangedDecoder:
    prediction = model.decoder.prediction
    return RearrangedDecoder(prediction["embed"], prediction["dec_rnn"].lstm, model.joint.pred)


def rearrange_joiner(model) -> RearrangedJoiner:
    activation, *_, out = model.joint.joint_net
    return RearrangedJoiner(activation, out)

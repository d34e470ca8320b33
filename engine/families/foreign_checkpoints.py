"""Rules that recognise checkpoints of unsupported families by unique tensor names and shapes.

Names in the original layouts are those that ComfyUI (`comfy/model_detection.py`) and diffusers
(`loaders/single_file_utils.py`) look for; the other names are from diffusers' own layout. Specific
rows come before general ones, because the first matching row counts.
"""

import re

from engine.families.foreign_kind import ForeignKind, Sign


def _checkpoint(title: str, *signs: Sign, shape: str = "") -> ForeignKind:
    patterns = (re.compile(shape),) if shape else ()
    return ForeignKind(title, signs, patterns, is_checkpoint=True)


def _unet(title: str, *signs: Sign) -> ForeignKind:
    return ForeignKind(title, signs, is_checkpoint=True, beside_checkpoint=True)


# UNets for other tasks than text to image, recognised by their additional tensors.
_CONTEXT_SD2 = "attn2.to_k.weight [320,1024]"
UNETS = (
    _unet("a Stable Video Diffusion model", "time_stack.0.attn1.to_q.weight ["),
    _unet("a Stable Video Diffusion model", "temporal_transformer_blocks.0.attn1.to_q."),
    _unet("an I2VGen-XL model", "image_latents_context_embedding."),
    # "temopral" is misspelt in ModelScope's own code.
    _unet(
        "a text-to-video model (ModelScope, VideoCrafter)",
        "temopral_conv.",
        ("temp_convs.", "time_embedding."),
    ),
    _unet("a Hotshot-XL model", "temporal_attentions."),
    _unet("a Zero-1-to-3 model", "cc_projection.weight ["),
    _unet("an MVDream model", "camera_embed.0."),
    _unet("a Paint-by-Example model", "cond_stage_model.mapper.resblocks."),
    _unet("an SD unCLIP model", "noise_augmentor.", "embedder.model.visual."),
    _unet(
        "an SD unCLIP model",
        ("class_embedding.linear_1.weight [1280,2048]", _CONTEXT_SD2),
        ("class_embedding.linear_1.weight [1280,1536]", _CONTEXT_SD2),
        ("label_emb.0.0.weight [1280,2048]", _CONTEXT_SD2),
        ("label_emb.0.0.weight [1280,1536]", _CONTEXT_SD2),
    ),
    _unet("an SD image variations model", "cond_stage_model.model.visual."),
    _unet("a Kolors model", "encoder_hid_proj.weight [2048,4096]"),
    _unet("a Kolors model", "_embedding.linear_1.weight [1280,5632]"),
    _unet("a Kolors model", "label_emb.0.0.weight [1280,5632]"),
    _unet("an SD 2 depth-to-image model", "conv_in.weight [320,5,3,3]"),
    _unet("an SD 2 depth-to-image model", "input_blocks.0.0.weight [320,5,3,3]"),
    _unet("an SD x4 upscaler model", "conv_in.weight [256,7,3,3]"),
    _unet("an SD x4 upscaler model", "input_blocks.0.0.weight [256,7,3,3]"),
    _unet("a GLIGEN model", "position_net.", ".fuser.attn."),
    _unet("an AudioLDM or MusicLDM model", "film_emb.weight ["),
    _unet("an AudioLDM or MusicLDM model", ("\nclass_embedding.weight [", "\nconv_in.")),
    # SD 2 has no editing variant, so 8 input channels are the latents of a picture and its depth.
    _unet(
        "an estimator of depth or normals (Marigold, Lotus)",
        ("conv_in.weight [320,8,3,3]", _CONTEXT_SD2),
        ("input_blocks.0.0.weight [320,8,3,3]", _CONTEXT_SD2),
    ),
    _unet("an estimator of depth or normals (Lotus)", "class_embedding.linear_1.weight [1280,4]"),
    _unet("a Kandinsky 2 model", "add_embedding.image_norm.", "add_embedding.text_norm."),
    _unet("a Kandinsky 2 model", ".clip_emb.weight [", "ln_model_n."),
    _unet("a DeepFloyd IF model", "add_embedding.pool.", "encoder_pooling.1."),
    _unet("a Kandinsky 3 model", "add_time_condition.attention."),
)

_INDIVIDUAL = "txt_in.individual_token_refiner."
_REFINER = "context_embedder.token_refiner."
_ONES = "single_transformer_blocks.0."

CHECKPOINTS = (
    # Transformers with two streams, most of which share tensor names with Flux or SD 3.
    _checkpoint("a Flux.2 model", "double_stream_modulation_img.lin"),
    _checkpoint("a Flux.3 model", "early_stream_modulations."),
    _checkpoint("a Chroma Radiance model", "nerf_blocks.0."),
    _checkpoint("a HunyuanVideo 1.5 model", (_INDIVIDUAL, "vision_in.proj.")),
    _checkpoint("a HunyuanVideo 1.5 model", "\ncond_type_embed.weight ["),
    _checkpoint(
        "a HunyuanImage model", _INDIVIDUAL, shape=r"img_in\.proj\.weight \[(\d+,){3}\d+\]"
    ),
    _checkpoint(
        "a HunyuanImage model", _REFINER, shape=r"x_embedder\.proj\.weight \[(\d+,){3}\d+\]"
    ),
    _checkpoint("a HunyuanVideo model", _INDIVIDUAL, _REFINER),
    _checkpoint(
        "a Hunyuan3D model",
        ("latent_in.weight [", "cond_in.weight ["),
        ("blocks.0.attn1.k_norm.", "x_embedder.", "t_embedder.mlp.2."),
    ),
    _checkpoint("an Ovis-Image model", "context_embedder_norm.", "img_mlp.gate_proj."),
    _checkpoint(
        "a LongCat-Image model",
        ("context_embedder.weight [3072,3584]", _ONES),
        ("txt_in.weight [3072,3584]", "double_blocks.0.img_attn."),
    ),
    _checkpoint("a Bria FIBO model", ("caption_projection.0.linear.", _ONES)),
    _checkpoint("a Bria FIBO 2 model", "perceiver.latent_queries ["),
    _checkpoint("a Bria model", ("\ntime_embed.timestep_embedder.", _ONES)),
    _checkpoint(
        "an AuraFlow model",
        "double_layers.0.attn.w1q.weight [",
        "joint_transformer_blocks.0.",
    ),
    _checkpoint("a Step1X-Edit model", ("double_blocks.0.img_attn.", "connector.S.")),
    _checkpoint("a JoyImage model", "double_blocks.0.attn.img_attn_qkv."),
    _checkpoint("a Qwen-Image 2.1 model", "txt_in.text_norm.weight ["),
    _checkpoint("a Nucleus-Image model", ("transformer_blocks.0.encoder_proj.", "txt_norm.")),
    _checkpoint("a Lens model", ("attn.norm_added_q.weight [", "transformer_blocks.0.img_mlp.w1.")),
    _checkpoint(
        "a Qwen-Image model",
        ("txt_norm.weight [", "transformer_blocks.0."),
        "transformer_blocks.0.img_mod.1.",
    ),
    _checkpoint("a HiDream model", "double_stream_blocks.0.block.", "t_embedder1.mlp.0."),
    _checkpoint("a GLM-Image model", "glyph_projector.", "prior_token_embedding."),
    _checkpoint("a CogView model", ("patch_embed.text_proj.", "time_condition_embed.")),
    _checkpoint(
        "a CogVideoX model",
        ("patch_embed.text_proj.", "blocks.0.norm1.linear."),
        "mixins.patch_embed.",
    ),
    _checkpoint("a Motif-Video model", ("context_embedder.linear_1.", _ONES)),
    _checkpoint("an Omni-Gen model", "input_x_embedder.", "llm.layers.0.self_attn.qkv_proj."),
    # Lumina's relatives.
    _checkpoint("a Boogu-Image model", "double_stream_layers.0.img_instruct_attn."),
    _checkpoint("an OmniGen2 model", "ref_image_refiner.0."),
    _checkpoint("a NewBie model", "clip_text_pooled_proj."),
    _checkpoint(
        "a Lumina 2 model",
        ("cap_embedder.1.weight [", "noise_refiner.0."),
        ("time_caption_embed.caption_embedder.", "noise_refiner.0."),
    ),
    _checkpoint("a Lumina-Next model", "layers.0.attention.wk_y.", ".gate [32]"),
    # Other transformers for pictures.
    _checkpoint(
        "a Sana model",
        "attention_y_norm.weight [",
        ("\ncaption_norm.weight [", "time_embed.emb."),
    ),
    _checkpoint("an Allegro model", "adaln_single.emb.", shape=r"pos_embed\.proj\.weight \[2304,"),
    _checkpoint(
        "a PixArt model",
        ("adaln_single.emb.timestep_embedder.", "pos_embed.proj."),
        ("t_block.1.weight [", "y_embedder.y_proj."),
    ),
    _checkpoint("a Hunyuan-DiT model", "mlp_t5.0.weight [", "\ntime_extra_emb."),
    _checkpoint("a Krea 2 model", "txtfusion.projector.", "text_fusion.projector."),
    _checkpoint("an Ideogram 4 model", "embed_image_indicator.weight ["),
    _checkpoint(
        "an ERNIE-Image model", "layers.0.mlp.linear_fc2.weight [", "layers.0.adaLN_sa_ln."
    ),
    _checkpoint("a SenseNova model", "fm_modules.vision_model_mot_gen."),
    _checkpoint("a DiT model", ".norm1.emb.class_embedder."),
    _checkpoint("an aMUSEd model", "project_to_hidden."),
    _checkpoint("a PRX model", ("\ntime_in.in_layer.", "blocks.0.gate_proj.")),
    _checkpoint(
        "a Stable Cascade model",
        "clip_txt_mapper.weight [",
        "clip_mapper.weight [",
        "clip_txt_pooled_mapper.",
    ),
    _checkpoint("a Würstchen model", "effnet_mapper.", ("\nclf.1.weight [", "c_mapper.")),
    _checkpoint("a prior of Kandinsky or unCLIP", "\nprd_embedding [", "\nprd_emb ["),
    _checkpoint("a Kandinsky 5 model", "visual_transformer_blocks.0.cross_attention."),
    _checkpoint("a Kandinsky 6 model", "visual_embeddings.in_layer."),
    # Video.
    _checkpoint("a Wan model", "head.modulation ["),
    _checkpoint(
        "a Wan model",
        ("condition_embedder.time_embedder.", "\npatch_embedding.weight [", "blocks.0.attn1."),
    ),
    _checkpoint("a LongCat-Video model", ".pre_crs_attn_norm."),
    _checkpoint("a LingBot-Video model", ("text_embedder.norm.", "\npatch_embedder.")),
    _checkpoint("an LTX-2 model", "audio_adaln_single.", "\naudio_scale_shift_table ["),
    _checkpoint(
        "an LTX-Video model",
        ("adaln_single.emb.timestep_embedder.", "patchify_proj."),
        ("time_embed.emb.timestep_embedder.", "\nscale_shift_table [", "\nproj_in."),
    ),
    _checkpoint("a Mochi model", "t5_yproj.weight [", "time_embed.pooler.to_kv."),
    _checkpoint("an Anima model", "llm_adapter.blocks."),
    _checkpoint(
        "a Cosmos model",
        "blocks.block0.blocks.0.block.attn.",
        ("blocks.0.mlp.layer1.weight [", "x_embedder.proj.1."),
        "time_embed.t_embedder.linear_1.",
        "layers.0.mlp_moe_gen.",
    ),
    _checkpoint("a MiniMax H3 model", "audio_patch_proj.", "\naudio_proj_in."),
    _checkpoint("a SeedVR2 model", "mlp.all.proj_in", "mlp.vid.proj_in"),
    _checkpoint("an Open-Sora model", "spatial_blocks.0.attn.", "temporal_blocks.0.attn."),
    # Sound.
    _checkpoint("an ACE-Step model", "genre_embedder.weight [", "encoder.lyric_encoder."),
    _checkpoint("an ACE-Step model", "\ntime_embed_r.linear_1."),
    _checkpoint(
        "a Stable Audio model",
        "transformer.rotary_pos_emb.inv_freq [",
        "\ncross_attention_proj.0.",
        "\nto_cond_embed.0.",
    ),
    _checkpoint("a MiniMax Music model", "cond_layer_logits ["),
    # The rest: a UNet without text input.
    _checkpoint(
        "a diffusion model without text (DDPM)",
        ("\nconv_in.weight [", "\ntime_embedding.linear_1.", "up_blocks.0.resnets."),
    ),
    # Kinds of integers under names of their own, whatever network they are of.
    _unet("an SVDQuant (Nunchaku) model", ".wscales ["),
    _unet("an optimum-quanto model", ".weight._data ["),
)

"""Tags of LoRAs for the extensions' own code, whose answers `freeze_lora_tags` keeps."""

# Arguments of a tag after `<lora:name`.
STRENGTHS = (
    "",
    ":0.8",
    ":0.8:0.5",
    ":te=0.3",
    ":unet=0.3",
    ":te=0.2@0,1@1:unet=0.7",
    ":0@0,1@0.5",
    ":0@0,1@1,0@0.5",
    ":1@0;0.5@3;1@6",
    ":0.5@3,1@6,1@0",
    ":0.25@0.5,1@1",
    ":0.25~0.5,1~1",
    ":0@0,1",
    ":0.5,1@1",
    ":0.5@5,1.0@10",
    ":0@0.3,1@0.3",
    ":-1@0,1@1",
    ":0.8@0.15,0@0.3:1@0,0@1",
)
# Numbers of steps; the tool fails at two where places are fractions.
STEPS = (1, 3, 8, 20)

BLOCKS = (
    "NONE",
    "ALL",
    "INS",
    "IND",
    "INALL",
    "MIDD",
    "OUTD",
    "OUTS",
    "OUTALL",
    "ALL0.5",
    ",".join(map(str, range(12))),
    ",".join(map(str, range(17))),
    ",".join(map(str, range(20))),
    ",".join(map(str, range(26))),
)
# Layers under the names of the original implementation, and under diffusers' names.
LAYERS = {
    "diffusion_model_input_blocks_0_0": "conv_in",
    "diffusion_model_input_blocks_1_0_in_layers_2": "down_blocks.0.resnets.0.conv1",
    "diffusion_model_input_blocks_3_0_op": "down_blocks.0.downsamplers.0.conv",
    "diffusion_model_input_blocks_8_1_proj_in": "down_blocks.2.attentions.1.proj_in",
    "diffusion_model_input_blocks_11_0_out_layers_3": "down_blocks.3.resnets.1.conv2",
    "diffusion_model_middle_block_1_proj_in": "mid_block.attentions.0.proj_in",
    "diffusion_model_output_blocks_2_1_conv": "up_blocks.0.upsamplers.0.conv",
    "diffusion_model_output_blocks_11_1_proj_out": "up_blocks.3.attentions.2.proj_out",
    "diffusion_model_time_embed_0": "time_embedding.linear_1",
    "diffusion_model_input_blocks_8_1_transformer_blocks_0_attn1_to_q": (
        "down_blocks.2.attentions.1.transformer_blocks.0.attn1.to_q"
    ),
    "diffusion_model_output_blocks_3_1_transformer_blocks_0_attn2_to_out_0": (
        "up_blocks.1.attentions.0.transformer_blocks.0.attn2.to_out.0"
    ),
    "diffusion_model_output_blocks_3_1_transformer_blocks_0_ff_net_0_proj": (
        "up_blocks.1.attentions.0.transformer_blocks.0.ff.net.0.proj"
    ),
    "diffusion_model_output_blocks_3_0_emb_layers_1": "up_blocks.1.resnets.0.time_emb_proj",
}
# A layer of a text encoder, as the extension sees it.
TEXT_LAYER = "transformer_text_model_encoder_layers_0_mlp_fc1"

# Sets of elements, as `lbwe=` names them.
ELEMENTS = (
    "IN05-OUT05:attn:1",
    "IN05-OUT05:attn:0",
    "IN05-OUT05:proj:0",
    "::1",
    "::0",
    "::0,:attn:1",
    "IN:attn1:0.5",
    "OUT03 M00::0.25",
    "NOT IN08 BASE::2",
    ":NOT attn proj:0.1",
    "NOT OUT00-OUT11:NOT attn1:-1,BASE:mlp:3\nM00::4",
    "OUT05-IN05:attn2:7",
    "no rule,IN08:attn:0.3, :ff :0.4",
    "NOT:attn:5",
)

# Layers of Flux.1 as the extension sees them in Forge, and their components and diffusers' names.
FLUX_LAYERS = {
    "diffusion_model_img_in_weight": ("denoiser", "x_embedder"),
    "diffusion_model_txt_in_weight": ("denoiser", "context_embedder"),
    "diffusion_model_time_in_out_layer_weight": (
        "denoiser",
        "time_text_embed.timestep_embedder.linear_2",
    ),
    "diffusion_model_vector_in_in_layer_weight": (
        "denoiser",
        "time_text_embed.text_embedder.linear_1",
    ),
    "diffusion_model_double_blocks_0_img_attn_qkv_weight": (
        "denoiser",
        "transformer_blocks.0.attn.to_k",
    ),
    "diffusion_model_double_blocks_0_txt_attn_proj_weight": (
        "denoiser",
        "transformer_blocks.0.attn.to_add_out",
    ),
    "diffusion_model_double_blocks_0_img_mod_lin_weight": (
        "denoiser",
        "transformer_blocks.0.norm1.linear",
    ),
    "diffusion_model_single_blocks_0_linear1_weight": (
        "denoiser",
        "single_transformer_blocks.0.proj_mlp",
    ),
    "diffusion_model_single_blocks_0_linear2_weight": (
        "denoiser",
        "single_transformer_blocks.0.proj_out",
    ),
    "diffusion_model_final_layer_linear_weight": ("denoiser", "proj_out"),
    "clip_l_transformer_text_model_encoder_layers_0_mlp_fc1_weight": (
        "text_encoder",
        "text_model.encoder.layers.0.mlp.fc1",
    ),
    "t5xxl_transformer_encoder_block_0_layer_0_SelfAttention_q_weight": (
        "text_encoder_2",
        "encoder.block.0.layer.0.SelfAttention.q",
    ),
}
FLUX_WEIGHTS = ",".join(map(str, range(1, 62)))
FLUX_ELEMENTS = (
    "",
    "D00-D05:img_attn:0.25",
    "S10-S00:linear1:2",
    "CLIP T5::0.5",
    "IN OUT::0.5, :SelfAttention:3",
    "NOT D00:mod attn:7",
)

"""The reference implementation: the experiment that Safelight's graphs began as, unchanged.

It builds the UNet of SD 1.5 and binds a diffusers file in float32 to OpenVINO in bfloat16. It has
no validation, no types and one family, and must never be improved: the engine's UNet is compared
with it in the same run, so that a change that makes steps slower shows on any machine.
"""
# fmt: off
# ruff: noqa
# pyright: basic, reportArgumentType=false, reportAttributeAccessIssue=false
# pyright: reportCallIssue=false, reportIndexIssue=false
# (unchanged code)

import numpy as np
from onnx import TensorProto, helper

DTYPES = {"F32": (TensorProto.FLOAT, np.float32), "F16": (TensorProto.FLOAT16, np.float16)}


class GraphBuilder:
    """Emits nodes. A weight is named exactly as in the checkpoint; only its name, shape and dtype enter the graph."""

    def __init__(self, header: dict, fused: bool):
        self.header, self.fused = header, fused  # fused: use com.microsoft ops that ONNX Runtime has fast kernels for
        self.nodes, self.weights, self.constants = [], {}, {}

    def op(self, kind, *inputs, domain="", **attributes):
        out = f"{kind}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [out], name=out, domain=domain, **attributes))
        return out

    def constant(self, value, dtype=np.int64):
        array = np.asarray(value, dtype)
        key = f"const_{dtype.__name__}_{array.tolist()}"
        if key not in self.constants:
            self.constants[key] = helper.make_tensor(key, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape, array.flatten())
        return key

    def weight(self, name):
        self.weights[name] = self.header[name]
        return name

    def linear(self, x, name):
        y = self.op("MatMul", x, self.op("Transpose", self.weight(name + ".weight"), perm=[1, 0]))
        return self.op("Add", y, self.weight(name + ".bias")) if name + ".bias" in self.header else y

    def conv(self, x, name, stride=1, pad=1):
        return self.op("Conv", x, self.weight(name + ".weight"), self.weight(name + ".bias"), strides=[stride] * 2, pads=[pad] * 4)

    def silu(self, x):
        return self.op("Mul", x, self.op("Sigmoid", x))

    def group_norm(self, x, name, epsilon=1e-5):
        grouped = self.op("Reshape", x, self.constant([0, 32, -1]))
        ones, zeros = self.constant([1] * 32, np.float32), self.constant([0] * 32, np.float32)
        y = self.op("Reshape", self.op("InstanceNormalization", grouped, ones, zeros, epsilon=epsilon), self.op("Shape", x))
        per_channel = self.constant([1, -1, 1, 1])
        y = self.op("Mul", y, self.op("Reshape", self.weight(name + ".weight"), per_channel))
        return self.op("Add", y, self.op("Reshape", self.weight(name + ".bias"), per_channel))

    def layer_norm(self, x, name):
        return self.op("LayerNormalization", x, self.weight(name + ".weight"), self.weight(name + ".bias"), axis=-1, epsilon=1e-5)

    def attention(self, q, k, v, heads, head_dim):
        if self.fused:
            return self.op("MultiHeadAttention", q, k, v, domain="com.microsoft", num_heads=heads)
        split = lambda x, perm: self.op("Transpose", self.op("Reshape", x, self.constant([0, 0, heads, head_dim])), perm=perm)
        scores = self.op("Mul", self.op("MatMul", split(q, [0, 2, 1, 3]), split(k, [0, 2, 3, 1])), self.constant(head_dim**-0.5, np.float32))
        mixed = self.op("MatMul", self.op("Softmax", scores, axis=-1), split(v, [0, 2, 1, 3]))
        return self.op("Reshape", self.op("Transpose", mixed, perm=[0, 2, 1, 3]), self.constant([0, 0, heads * head_dim]))

    def halves(self, x, width):
        a, b = f"half_a_{len(self.nodes)}", f"half_b_{len(self.nodes)}"
        self.nodes.append(helper.make_node("Split", [x, self.constant([width, width])], [a, b], axis=-1))
        return a, b


def resnet(g, x, emb, name):
    h = g.conv(g.silu(g.group_norm(x, name + ".norm1")), name + ".conv1")
    h = g.op("Add", h, g.op("Reshape", g.linear(g.silu(emb), name + ".time_emb_proj"), g.constant([0, -1, 1, 1])))
    h = g.conv(g.silu(g.group_norm(h, name + ".norm2")), name + ".conv2")
    shortcut = g.conv(x, name + ".conv_shortcut", pad=0) if name + ".conv_shortcut.weight" in g.header else x
    return g.op("Add", shortcut, h)


def transformer(g, x, text, name, heads, width):
    def attend(h, attn, norm, context=None):
        y = g.layer_norm(h, block + norm)
        kv = context or y
        q, k, v = (g.linear(src, f"{block}{attn}.to_{n}") for src, n in ((y, "q"), (kv, "k"), (kv, "v")))
        return g.op("Add", g.linear(g.attention(q, k, v, heads, width // heads), block + attn + ".to_out.0"), h)

    block = name + ".transformer_blocks.0"
    h = g.conv(g.group_norm(x, name + ".norm", 1e-6), name + ".proj_in", pad=0)
    spatial = g.op("Shape", h)
    h = g.op("Transpose", g.op("Reshape", h, g.constant([0, width, -1])), perm=[0, 2, 1])
    h = attend(attend(h, ".attn1", ".norm1"), ".attn2", ".norm2", text)
    value, gate = g.halves(g.linear(g.layer_norm(h, block + ".norm3"), block + ".ff.net.0.proj"), 4 * width)
    h = g.op("Add", g.linear(g.op("Mul", value, g.op("Gelu", gate)), block + ".ff.net.2"), h)
    return g.op("Add", g.conv(g.op("Reshape", g.op("Transpose", h, perm=[0, 2, 1]), spatial), name + ".proj_out", pad=0), x)


def unet(g, widths=(320, 640, 1280, 1280), heads=8):
    half = widths[0] // 2
    angle = g.op("Mul", g.op("Reshape", g.op("Cast", "timestep", to=TensorProto.FLOAT), g.constant([-1, 1])),
                 g.constant(np.exp(-np.log(10000) * np.arange(half) / half), np.float32))
    emb = g.linear(g.op("Concat", g.op("Cos", angle), g.op("Sin", angle), axis=-1), "time_embedding.linear_1")
    emb = g.linear(g.silu(emb), "time_embedding.linear_2")
    text, x = "encoder_hidden_states", g.conv("sample", "conv_in")
    skips = [x]
    for i, width in enumerate(widths):
        for j in range(2):
            x = resnet(g, x, emb, f"down_blocks.{i}.resnets.{j}")
            if i < 3:
                x = transformer(g, x, text, f"down_blocks.{i}.attentions.{j}", heads, width)
            skips.append(x)
        if i < 3:
            x = g.conv(x, f"down_blocks.{i}.downsamplers.0.conv", stride=2)
            skips.append(x)
    x = resnet(g, x, emb, "mid_block.resnets.0")
    x = transformer(g, x, text, "mid_block.attentions.0", heads, widths[-1])
    x = resnet(g, x, emb, "mid_block.resnets.1")
    for i, width in enumerate(reversed(widths)):
        for j in range(3):
            x = resnet(g, g.op("Concat", x, skips.pop(), axis=1), emb, f"up_blocks.{i}.resnets.{j}")
            if i > 0:
                x = transformer(g, x, text, f"up_blocks.{i}.attentions.{j}", heads, width)
        if i < 3:
            x = g.op("Resize", x, "", g.constant([1, 1, 2, 2], np.float32), mode="nearest",
                     coordinate_transformation_mode="asymmetric", nearest_mode="floor")
            x = g.conv(x, f"up_blocks.{i}.upsamplers.0.conv")
    return g.conv(g.silu(g.group_norm(x, "conv_norm_out")), "conv_out")


def model(g, output, weights_as):
    """weights_as: 'external' (initializers that point into a file, for ONNX Runtime) or 'inputs' (for OpenVINO)."""
    info = helper.make_tensor_value_info
    inputs = [info("sample", 1, ["b", 4, "h", "w"]), info("timestep", 7, [1]), info("encoder_hidden_states", 1, ["b", "n", 768])]
    initializers = list(g.constants.values())
    for name, entry in g.weights.items():
        dtype = DTYPES[entry["dtype"]][0]
        if weights_as == "inputs":
            inputs.append(info(name, dtype, entry["shape"]))
            continue
        tensor = TensorProto(name=name, data_type=dtype, dims=entry["shape"], data_location=TensorProto.EXTERNAL)
        begin, end = entry["data_offsets"]
        for key, value in (("location", "checkpoint"), ("offset", g.header["__base__"] + begin), ("length", end - begin)):
            tensor.external_data.add(key=key, value=str(value))
        initializers.append(tensor)
    nodes = [*g.nodes, helper.make_node("Identity", [output], ["out"])]
    graph = helper.make_graph(nodes, "unet", inputs, [info("out", 1, ["b", 4, "h", "w"])], initializers)
    opsets = [helper.make_opsetid("", 20), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=10).SerializeToString()


def bind_openvino(model_bytes, path, header):
    """OpenVINO refuses external data outside the model's folder: read weights as inputs, then swap in shared constants."""
    import openvino as ov

    core = ov.Core()
    graph = core.read_model(model_bytes)
    data = np.memmap(path, mode="c", dtype=np.uint8)  # copy-on-write: the API insists on a writable array, nothing is written
    for parameter in graph.get_parameters():
        name = next(iter(parameter.output(0).get_names()))
        if name in header:
            begin, end = (header["__base__"] + offset for offset in header[name]["data_offsets"])
            array = data[begin:end].view(DTYPES[header[name]["dtype"]][1]).reshape(header[name]["shape"])
            constant = ov.op.Constant(array, shared_memory=True)
            for target in parameter.output(0).get_target_inputs():
                target.replace_source_output(constant.output(0))
            graph.remove_parameter(parameter)
    graph.validate_nodes_and_infer_types()
    request = core.compile_model(graph, "CPU", {"INFERENCE_PRECISION_HINT": "bf16"}).create_infer_request()
    return lambda feeds: request.infer(feeds)[0], data

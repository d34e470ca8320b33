"""The operators that a file's graph may have: arithmetic on arrays, all of ONNX's own domain.

Not among them: what contains graphs of its own (If, Loop, Scan), sequences and optional values,
texts, pictures in files, random numbers, training, and what a vendor adds.
"""

# The oldest and the newest set of operators that is read.
OLDEST_OPSET, NEWEST_OPSET = 7, 22
# The names of ONNX's own domain.
OWN_DOMAINS = frozenset({"", "ai.onnx"})

ALLOWED = frozenset(
    """
    Abs Acos Acosh Add And ArgMax ArgMin Asin Asinh Atan Atanh AveragePool BatchNormalization
    BitShift Cast CastLike Ceil Celu Clip Compress Concat Constant ConstantOfShape Conv
    ConvInteger ConvTranspose Cos Cosh CumSum DepthToSpace DequantizeLinear Div Dropout
    DynamicQuantizeLinear Einsum Elu Equal Erf Exp Expand EyeLike Flatten Floor Gather
    GatherElements GatherND Gelu Gemm GlobalAveragePool GlobalLpPool GlobalMaxPool Greater
    GreaterOrEqual GridSample GroupNormalization HardSigmoid HardSwish Hardmax Identity
    InstanceNormalization IsInf IsNaN LayerNormalization LeakyRelu Less LessOrEqual Log
    LogSoftmax LpNormalization LpPool LRN MatMul MatMulInteger Max MaxPool MaxRoiPool Mean
    MeanVarianceNormalization Min Mish Mod Mul Neg NonMaxSuppression NonZero Not OneHot Or PRelu
    Pad Pow QLinearConv QLinearMatMul QuantizeLinear Range Reciprocal ReduceL1 ReduceL2
    ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum
    ReduceSumSquare Relu Reshape Resize RoiAlign Round ScatterElements ScatterND Selu Shape
    Shrink Sigmoid Sign Sin Sinh Size Slice Softmax Softplus Softsign SpaceToDepth Split Sqrt
    Squeeze Sub Sum Tan Tanh ThresholdedRelu Tile TopK Transpose Trilu Unsqueeze Upsample Where
    Xor
    """.split()  # noqa: SIM905 (a list of a hundred lines otherwise)
)

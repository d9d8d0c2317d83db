"""Times onnxruntime on bge-small-en-v1.5, one thread, beside embed/transformer.

Usage: encode_onnx.py MODEL_DIR WORK_DIR. MODEL_DIR has the weights as .npz and golden.json; the graphs of them, in float32 and
in int8 by quantize_dynamic, are written to WORK_DIR. Prints milliseconds of processor time a text, and how near its
vectors are to those of the model.
"""

import json
import logging
import math
import sys
import time

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import QuantType, quantize_dynamic

HEADS, WIDTH = 12, 384


class Graph:
    """A graph that grows by one operator at a time."""

    def __init__(self, weights):
        self.weights, self.nodes, self.constants = weights, [], []

    def constant(self, values):
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(values), name))
        return name

    def op(self, kind, *inputs, **attributes):
        name = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [name], **attributes))
        return name

    def linear(self, x, name):
        product = self.op("MatMul", x, self.constant(self.weights[name + ".weight"]))
        return self.op("Add", product, self.constant(self.weights[name + ".bias"]))

    def norm(self, x, name):
        gain, bias = (self.constant(self.weights[f"{name}.{part}"]) for part in ("weight", "bias"))
        return self.op("LayerNormalization", x, gain, bias, axis=-1, epsilon=1e-12)

    def layer(self, x, at):
        def heads(part, order):
            split = self.op("Reshape", self.linear(x, at + "attention.self." + part),
                            self.constant(np.array([0, 0, HEADS, WIDTH // HEADS])))
            return self.op("Transpose", split, perm=order)

        query, key, value = heads("query", [0, 2, 1, 3]), heads("key", [0, 2, 3, 1]), heads("value", [0, 2, 1, 3])
        scale = self.constant(np.float32(1 / math.sqrt(WIDTH // HEADS)))
        scores = self.op("Softmax", self.op("Mul", self.op("MatMul", query, key), scale), axis=-1)
        mixed = self.op("Transpose", self.op("MatMul", scores, value), perm=[0, 2, 1, 3])
        mixed = self.op("Reshape", mixed, self.constant(np.array([0, 0, WIDTH])))
        mixed = self.linear(mixed, at + "attention.output.dense")
        x = self.norm(self.op("Add", mixed, x), at + "attention.output.LayerNorm")
        wide = self.linear(x, at + "intermediate.dense")
        erf = self.op("Erf", self.op("Div", wide, self.constant(np.float32(math.sqrt(2)))))
        gelu = self.op("Mul", wide, self.op("Add", erf, self.constant(np.float32(1))))
        gelu = self.op("Mul", gelu, self.constant(np.float32(0.5)))
        return self.norm(self.op("Add", self.linear(gelu, at + "output.dense"), x), at + "output.LayerNorm")

    def model(self):
        words = self.op("Gather", self.constant(self.weights["embeddings.word_embeddings.weight"]), "ids")
        places = self.weights["embeddings.position_embeddings.weight"]
        places = self.constant(places + self.weights["embeddings.token_type_embeddings.weight"][0])
        zero = self.constant(np.array([0]))
        places = self.op("Slice", places, zero, self.op("Shape", "ids", start=1, end=2), zero)
        x = self.norm(self.op("Add", words, places), "embeddings.LayerNorm")
        for n in range(12):
            x = self.layer(x, f"encoder.layer.{n}.")
        graph = helper.make_graph(
            self.nodes, "bge", [helper.make_tensor_value_info("ids", TensorProto.INT64, [1, "tokens"])],
            [helper.make_tensor_value_info(x, TensorProto.FLOAT, [1, "tokens", WIDTH])], self.constants)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


def vector(session, ids):
    first = session.run(None, {"ids": np.array([ids], dtype=np.int64)})[0][0, 0]
    return first / np.linalg.norm(first)


def milliseconds(session, ids, rounds):
    vector(session, ids)
    start = time.process_time()
    for _ in range(rounds):
        vector(session, ids)
    return (time.process_time() - start) / rounds * 1000


def main():
    logging.disable(logging.WARNING)
    model, work = sys.argv[1:]
    stored = np.load(f"{model}/bge-small-en-v1.5.npz")
    texts = json.load(open(f"{model}/golden.json"))["texts"]
    longest = max((t["ids"] for t in texts), key=len)
    floats, ints = f"{work}/float32.onnx", f"{work}/int8.onnx"
    onnx.save(Graph({name: stored[name].astype(np.float32) for name in stored.files}).model(), floats)
    quantize_dynamic(floats, ints, weight_type=QuantType.QInt8, op_types_to_quantize=["MatMul", "Gather"])
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    for name, path in (("int8", ints), ("float32", floats)):
        session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        cosines = [float(vector(session, t["ids"]) @ np.array(t["vector"])) for t in texts]
        passage, query = milliseconds(session, longest[:200], 50), milliseconds(session, longest[:16], 300)
        print(f"onnxruntime {onnxruntime.__version__} {name}: {passage:.1f} ms a text of 200 tokens, {query:.1f} ms of 16; "
              f"cosines from {min(cosines):.4f}")


main()

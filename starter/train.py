"""Trains the starter model: `python -m starter.train STAGE`, stages in order of use.

    tokenizer                    learns the vocabulary from captions
    vae --minutes 26             picture <-> latents
    text --minutes 5             text encoder, taught what captions say
    encode --pictures 6000       draws postcards and encodes them once
    unet --minutes 70            denoiser, on the encoded postcards
    export                       writes starter/safelight-starter/, fp16

Stages read and write `starter/run/`; vae, text and unet resume from what they find there.
"""

import argparse
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> None:
    chosen = _parser().parse_args(arguments)
    match chosen.stage:  # each stage's libraries are slow to import: only the chosen one's
        case "tokenizer":
            from starter.training.tokenizer import train_tokenizer

            train_tokenizer()
        case "vae":
            from starter.training.vae import train_vae

            train_vae(chosen.minutes, chosen.pictures, chosen.spent)
        case "text":
            from starter.training.text import train_text

            train_text(chosen.minutes)
        case "encode":
            from starter.training.unet import encode_pictures

            encode_pictures(chosen.pictures)
        case "unet":
            from starter.training.unet import train_unet

            train_unet(chosen.minutes, chosen.rate)
        case _:
            from starter.training.export import export

            export()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m starter.train",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    stages = parser.add_subparsers(dest="stage", required=True)
    stages.add_parser("tokenizer")
    vae = stages.add_parser("vae")
    vae.add_argument("--minutes", type=float, default=26)
    vae.add_argument("--pictures", type=int, default=4000)
    vae.add_argument("--spent", type=float, default=0, help="share of the schedule done before")
    text = stages.add_parser("text")
    text.add_argument("--minutes", type=float, default=5)
    encode = stages.add_parser("encode")
    encode.add_argument("--pictures", type=int, default=6000)
    unet = stages.add_parser("unet")
    unet.add_argument("--minutes", type=float, default=70)
    unet.add_argument("--rate", type=float, default=8e-4, help="peak learning rate")
    stages.add_parser("export")
    return parser


if __name__ == "__main__":
    main()

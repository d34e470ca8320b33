"""Makes the frozen answers and writings of other tools, by running their own code. For each, run

    python -m tests.metadata.freeze TOOL CHECKOUT

a1111.json: AUTOMATIC1111/stable-diffusion-webui, what `parse_generation_parameters` and
`get_sampler_and_scheduler` make of `cases.TEXTS` and of our own texts, and what `create_infotext`
writes. fooocus.json: lllyasviel/Fooocus, what both of its metadata parsers write.
easy_diffusion.json: easydiffusion/easydiffusion, `get_metadata_entries_for_request`, in either
format. invoke.json: invoke-ai/InvokeAI, `PromptFormatter.normalize_prompt` ("Dream"). comfy.json
and sdcpp.json: comfyanonymous/ComfyUI, leejet/stable-diffusion.cpp, the names of samplers and
schedules, which the others have as well. Each names the commit, which is read from a file COMMIT
in the checkout or asked of git. Of each tool only the named functions run, without the packages it
needs.
"""
# pyright: basic

import ast
import json
import math
import re
import subprocess
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cache, reduce
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from packaging import version

from tests.metadata.cases import OURS, TEXTS

FOLDER = Path(__file__).parent / "frozen"


def load(path: Path, names: set[str], given: dict[str, Any]) -> dict[str, Any]:
    """Run the definitions and assignments of these names in a module, with `given` in its place."""
    tree = ast.parse("from __future__ import annotations\n" + path.read_text("utf-8"))
    for node in tree.body:
        defined: set[str] = set()
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            defined = {node.name}
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            defined = {target.id for target in targets if isinstance(target, ast.Name)}
        if defined & names:
            future = ast.parse("from __future__ import annotations").body
            module = ast.Module([*future, node], [])
            exec(compile(module, str(path), "exec"), given)
    return given


def a1111(checkout: Path) -> dict[str, Any]:
    """Return A1111's answers to all texts, and the texts that it writes."""
    modules = checkout / "modules"
    options = SimpleNamespace(
        infotext_skip_pasting=[],
        infotext_styles="Ignore",
        use_old_hires_fix_width_height=False,
        auto_backcompat=True,
    )
    shared = SimpleNamespace(opts=options)
    attention = load(
        modules / "prompt_parser.py",
        {"re_attention", "re_break", "parse_prompt_attention"},
        {"re": re},
    )
    versions = load(
        modules / "infotext_versions.py",
        {"v160", "v170_tsnr", "v180", "v180_hr_styles", "parse_version", "backcompat"},
        {"re": re, "version": version, "shared": shared},
    )
    sizes = load(modules / "processing.py", {"old_hires_fix_first_pass_dimensions"}, {"math": math})
    texts = load(
        modules / "infotext_utils.py",
        {
            "re_param_code", "re_param", "re_imagesize", "quote", "unquote",
            "restore_old_hires_fix_params", "parse_generation_parameters",
        },
        {
            "re": re,
            "json": json,
            "shared": shared,
            "prompt_parser": SimpleNamespace(**attention),
            "infotext_versions": SimpleNamespace(**versions),
            "processing": SimpleNamespace(**sizes),
        },
    )  # fmt: skip
    parse = texts["parse_generation_parameters"]
    choose = _sampler_chooser(modules)

    def answer(text: str) -> dict[str, Any]:
        found = parse(text)
        named = found.get("Sampler"), found.get("Schedule type")
        return {"text": text, "parsed": found, "sampler": choose(*named)}

    return {
        "samplers": choose.samplers,
        "schedules": choose.schedules,
        "answers": [answer(text) for text in TEXTS],
        "ours": {name: answer(text) for name, text in OURS.items()},
        "written": _a1111_writings(modules, texts["quote"]),
    }


def _sampler_chooser(modules: Path) -> Any:
    """`get_sampler_and_scheduler` over its own tables, of which only names and options matter."""
    names: dict[str, Any] = {"sd_samplers_extra": SimpleNamespace(restart_sampler=None)}
    load(modules / "sd_samplers_kdiffusion.py", {"samplers_k_diffusion"}, names)
    names["sd_samplers_timesteps_impl"] = SimpleNamespace(
        ddim=None, ddim_cfgpp=None, plms=None, unipc=None
    )
    load(modules / "sd_samplers_timesteps.py", {"samplers_timesteps"}, names)
    rows = [*names["samplers_k_diffusion"], *names["samplers_timesteps"]]
    samplers = [SimpleNamespace(name=row[0], options=row[3]) for row in rows]
    samplers.append(SimpleNamespace(name="LCM", options={}))

    def scheduler(name: str, label: str, *_rest: Any, aliases: Any = None, **_more: Any) -> Any:
        return SimpleNamespace(name=name, label=label, aliases=aliases)

    functions = (
        "uniform", "sgm_uniform", "kl_optimal", "get_align_your_steps_sigmas", "simple_scheduler",
        "normal_scheduler", "ddim_scheduler", "beta_scheduler",
    )  # fmt: skip
    sampling = SimpleNamespace(
        get_sigmas_karras=None, get_sigmas_exponential=None, get_sigmas_polyexponential=None
    )
    given: dict[str, Any] = dict.fromkeys(functions)
    given |= {"Scheduler": scheduler, "k_diffusion": SimpleNamespace(sampling=sampling)}
    schedules = load(modules / "sd_schedulers.py", {"schedulers", "schedulers_map"}, given)
    chosen = load(
        modules / "sd_samplers.py",
        {"get_sampler_and_scheduler"},
        {
            "functools": SimpleNamespace(cache=cache),
            "samplers": samplers,
            "all_samplers_map": {sampler.name: sampler for sampler in samplers},
            "sd_schedulers": SimpleNamespace(**schedules),
        },
    )["get_sampler_and_scheduler"]

    def choose(sampler: str | None, schedule: str | None) -> list[str]:
        return list(chosen(sampler, schedule, convert_automatic=False))

    choose.samplers = sorted(
        {sampler.name for sampler in samplers} | {a for row in rows for a in row[2]}
    )
    choose.schedules = sorted(
        name
        for schedule in schedules["schedulers"]
        for name in (schedule.name, schedule.label, *(schedule.aliases or ()))
    )
    return choose


def _a1111_writings(modules: Path, quote: Callable[[Any], str]) -> dict[str, str]:
    """The texts of `create_infotext` for a plain picture and for one with everything."""
    written: dict[str, str] = {}
    plain: dict[str, Any] = {
        "steps": 20, "sampler_name": "DPM++ 2M", "scheduler": "Karras", "cfg_scale": 7.0,
        "width": 512, "height": 768, "restore_faces": False, "sd_model_hash": "6ce0161689",
        "sd_model_name": "v1-5-pruned-emaonly", "sd_vae_hash": None, "sd_vae_name": None,
        "subseed_strength": 0, "seed_resize_from_w": -1, "seed_resize_from_h": -1,
        "is_using_inpainting_conditioning": False, "tiling": False, "user": None,
        "extra_generation_params": {}, "batch_size": 1, "all_negative_prompts": [""],
        "eta_noise_seed_delta": 0, "randn_source": "GPU", "clip_skip": 1, "init_img_hash": None,
        "CLIP_stop_at_last_layers": 1,
    }  # fmt: skip
    everything = plain | {
        "sampler_name": "Euler a", "scheduler": "Automatic", "sd_vae_name": "soft.vae.pt",
        "subseed_strength": 0.25, "seed_resize_from_w": 512, "seed_resize_from_h": 640,
        "all_negative_prompts": ["blurry, (bad:1.2)"], "eta_noise_seed_delta": 31337,
        "randn_source": "CPU", "clip_skip": 2,
        "extra_generation_params": {
            "Denoising strength": 0.45, "Eta": 0.67, "Sigma noise": 1.003,
            "Schedule min sigma": 0.1, "Discard penultimate sigma": True, "Mask blur": 4,
            "SGM noise multiplier": True, "Emphasis": "No norm", "Noise Schedule":
            "Zero Terminal SNR", "Skip Early CFG": 0.2, "Lora hashes": "foo: 1a2b3c4d5e6f",
        },
    }  # fmt: skip
    for name, settings in (("plain", plain), ("everything", everything)):
        options = SimpleNamespace(
            **settings, add_model_hash_to_info=True, add_model_name_to_info=True,
            add_vae_hash_to_info=True, add_vae_name_to_info=True, add_version_to_infotext=True,
            add_user_name_to_info=False, face_restoration_model=None,
        )  # fmt: skip
        picture = SimpleNamespace(**settings, get_token_merging_ratio=lambda **_: 0)
        given: dict[str, Any] = {
            "opts": options,
            "shared": SimpleNamespace(opts=options),
            "devices": SimpleNamespace(fp8=False),
            "sd_samplers_common": SimpleNamespace(
                is_sampler_using_eta_noise_seed_delta=lambda _picture: True
            ),
            "infotext_utils": SimpleNamespace(quote=quote),
            "program_version": lambda: "v1.10.1",
        }
        create = load(modules / "processing.py", {"create_infotext"}, given)["create_infotext"]
        prompts = ["a cat, (masterpiece:1.2) <lora:foo:0.8>\nby the sea"]
        written[name] = create(picture, prompts, [965400086], [7])
    return written


def fooocus(checkout: Path) -> dict[str, Any]:
    """Both of its notations of one picture."""
    config = SimpleNamespace(metadata_created_by="someone")
    scheme = SimpleNamespace(A1111="a1111", FOOOCUS="fooocus")
    flags = load(
        checkout / "modules" / "flags.py",
        {"KSAMPLER", "SAMPLER_EXTRA", "SAMPLERS", "CIVITAI_NO_KARRAS"},
        {},
    )
    quote = load(checkout / "modules" / "util.py", {"quote"}, {"json": json})["quote"]
    given: dict[str, Any] = {
        "ABC": ABC, "abstractmethod": abstractmethod, "Path": Path, "json": json, "quote": quote,
        "re": re, "MetadataScheme": scheme,
        "Steps": SimpleNamespace(SPEED=SimpleNamespace(value=30)),
        "SAMPLERS": flags["SAMPLERS"], "CIVITAI_NO_KARRAS": flags["CIVITAI_NO_KARRAS"],
        "modules": SimpleNamespace(config=config),
    }  # fmt: skip
    parsers = {"MetadataParser", "A1111MetadataParser", "FooocusMetadataParser"}
    load(checkout / "modules" / "meta_parser.py", parsers, given)
    # `modules/async_worker.py` lists them so: label, key, value.
    rows = (
        ("prompt", "a red house"), ("negative_prompt", "rain"),
        ("styles", "['Fooocus V2', 'Fooocus Sharp']"), ("performance", "Speed"), ("steps", 30),
        ("resolution", "(896, 1152)"), ("guidance_scale", 4.0), ("sharpness", 2.0),
        ("adm_guidance", "(1.5, 0.8, 0.3)"), ("base_model", "juggernautXL.safetensors"),
        ("refiner_model", "None"), ("refiner_switch", 0.5), ("clip_skip", 2),
        ("sampler", "dpmpp_2m_sde_gpu"), ("scheduler", "karras"), ("vae", "Default (model)"),
        ("seed", "4067887243"), ("lora_combined_1", "sub/ink.safetensors : 0.1"),
        ("version", "Fooocus v2.5.5"),
    )  # fmt: skip
    written: dict[str, str] = {}
    for name in ("A1111", "Fooocus"):
        parser = given[name + "MetadataParser"]()
        parser.raw_prompt, parser.raw_negative_prompt = "a red house", "rain"
        parser.full_prompt = ["cinematic still a red house . emotional", "a red house, glowing"]
        parser.full_negative_prompt = ["anime, cartoon", "rain"]
        parser.steps, parser.base_model_name, parser.base_model_hash = 30, "juggernautXL", "d91d35"
        parser.loras, parser.vae_name = [("ink", 0.1, "4852686128")], "Default (model)"
        written[name.lower()] = parser.to_string([("", key, value) for key, value in rows])
    names = load(checkout / "modules" / "flags.py", {"SCHEDULER_NAMES"}, {})
    return {
        "samplers": sorted(flags["SAMPLERS"]),
        "schedules": sorted(names["SCHEDULER_NAMES"]),
        "written": written,
    }


def easy_diffusion(checkout: Path) -> dict[str, Any]:
    """The entries of one request, by keys and by labels."""
    source = checkout / "ui" / "easydiffusion" / "utils" / "save_utils.py"
    given: dict[str, Any] = {
        "app": SimpleNamespace(getConfig=lambda: {"backend": "webui"}), "reduce": reduce,
    }  # fmt: skip
    names = {"TASK_TEXT_MAPPING", "get_metadata_entries_for_request", "get_printable_request"}
    entries = load(source, names, given)["get_metadata_entries_for_request"]
    # `ui/easydiffusion/types.py`: GenerateImageRequest and RenderTaskData.
    request: dict[str, Any] = {
        "prompt": "a red house", "negative_prompt": "rain", "seed": 42, "width": 512, "height": 768,
        "num_outputs": 1, "num_inference_steps": 25, "guidance_scale": 7.5,
        "distilled_guidance_scale": 3.5, "init_image": None, "prompt_strength": 0.8,
        "sampler_name": "dpmpp_2m", "scheduler_name": "karras", "lora_alpha": [0.5, 0.8],
        "control_alpha": None, "hypernetwork_strength": 0, "tiling": None,
    }  # fmt: skip
    task: dict[str, Any] = {
        "use_stable_diffusion_model": "sd15/dream", "use_vae_model": "soft", "clip_skip": True,
        "use_lora_model": ["ink", "line"], "use_hypernetwork_model": None,
        "use_controlnet_model": None, "control_filter_to_apply": None, "use_embeddings_model": None,
        "use_face_correction": None, "use_upscale": None, "upscale_amount": 4,
        "latent_upscaler_steps": 10,
    }  # fmt: skip

    def thing(**fields: Any) -> Any:
        return SimpleNamespace(**fields, dict=lambda: dict(fields))

    backend = checkout / "ui" / "easydiffusion" / "backends" / "webui_common.py"
    convert = ast.parse(backend.read_text("utf-8"))
    names = next(
        ast.literal_eval(node.value)
        for function in convert.body
        if getattr(function, "name", "") == "convert_ED_sampler_names"
        for node in ast.walk(function)
        if isinstance(node, ast.Assign)
    )
    return {
        "samplers": sorted(names),
        "written": {
            form: entries(
                thing(**request),
                thing(**task),
                thing(model_paths={"embeddings": []}),
                thing(output_format="png"),
                thing(metadata_output_format=form),
            )[0]
            for form in ("embed", "txt")
        },
    }


def invoke(checkout: Path) -> dict[str, Any]:
    """The oldest of its notations."""
    source = checkout / "invokeai" / "backend" / "image_util" / "pngwriter.py"
    formatter = load(source, {"PromptFormatter"}, {})["PromptFormatter"]
    options = SimpleNamespace(
        prompt="a red house [rain]", steps=50, width=512, height=768, cfg_scale=7.5,
        sampler_name="k_lms", seamless=False, init_img=None, fit=False, strength=0.75,
        gfpgan_strength=0, upscale=None, variation_amount=0, with_variations=None,
    )  # fmt: skip
    schedulers = checkout / "invokeai" / "backend" / "stable_diffusion" / "schedulers"
    tree = ast.parse((schedulers / "schedulers.py").read_text("utf-8"))
    names: Any = next(
        node.value
        for node in tree.body
        if isinstance(node, ast.AnnAssign) and getattr(node.target, "id", "") == "SCHEDULER_MAP"
    )
    return {
        "samplers": sorted(key.value for key in names.keys),
        "written": {"dream": formatter(options, options).normalize_prompt()},
    }


def comfy(checkout: Path) -> dict[str, Any]:
    """Return ComfyUI's names of samplers and schedules."""
    wanted = {"KSAMPLER_NAMES", "SAMPLER_NAMES"}
    source = checkout / "comfy" / "samplers.py"
    names = load(source, wanted, {})["SAMPLER_NAMES"]
    schedules = re.findall(
        r'^    "(\w+)": SchedulerHandler', source.read_text("utf-8"), re.MULTILINE
    )
    return {"samplers": sorted(names), "schedules": sorted(schedules)}


def sdcpp(checkout: Path) -> dict[str, Any]:
    """Return stable-diffusion.cpp's names of samplers and schedules."""
    text = (checkout / "src" / "stable-diffusion.cpp").read_text("utf-8")

    def strings(array: str) -> list[str]:
        body = text.partition(f"const char* {array}[] = {{")[2].partition("};")[0]
        return sorted(re.findall(r'"([^"]+)"', body))

    return {
        "samplers": strings("sample_method_to_str"), "schedules": strings("scheduler_to_str"),
    }  # fmt: skip


REPOSITORIES = {
    a1111: "AUTOMATIC1111/stable-diffusion-webui",
    fooocus: "lllyasviel/Fooocus",
    easy_diffusion: "easydiffusion/easydiffusion",
    invoke: "invoke-ai/InvokeAI",
    comfy: "comfyanonymous/ComfyUI",
    sdcpp: "leejet/stable-diffusion.cpp",
}


def main() -> None:
    """Write one tool's file."""
    tool, checkout = sys.argv[1], Path(sys.argv[2])
    make = next(repository for repository in REPOSITORIES if repository.__name__ == tool)
    note = checkout / "COMMIT"
    if note.is_file():
        commit = note.read_text().split()[0]
    else:
        asked = subprocess.run(
            ["git", "-C", str(checkout), "rev-parse", "HEAD"], capture_output=True, check=True
        )
        commit = asked.stdout.decode().strip()
    content = {"repository": REPOSITORIES[make], "commit": commit, **make(checkout)}
    FOLDER.mkdir(exist_ok=True)
    text = json.dumps(content, indent=1, ensure_ascii=True, default=str)
    (FOLDER / f"{tool}.json").write_text(text + "\n")


if __name__ == "__main__":
    main()

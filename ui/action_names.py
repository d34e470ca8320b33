"""The names of what keys do, by which settings keep other keys, and groups of them."""

from enum import StrEnum


class ActionName(StrEnum):
    """The names of what keys do."""

    CREATE = "create"
    GALLERY = "gallery"
    MODELS = "models"
    SETTINGS = "settings"
    GENERATE = "generate"
    GENERATE_FIRST = "generate_first"
    CANCEL = "cancel"
    CANCEL_ALL = "cancel_all"
    QUEUE = "queue"
    FOLD_SIDE = "fold_side"
    UNDO_LATEST = "undo_latest"
    UNDO_IN_FORM = "undo_in_form"
    REDO_IN_FORM = "redo_in_form"
    OPEN = "open"
    OPEN_START = "open_start"
    EDIT_PROMPT = "edit_prompt"
    OLDER_PROMPT = "older_prompt"
    NEWER_PROMPT = "newer_prompt"
    EARLIER_PROMPTS = "earlier_prompts"
    SAVE_PRESET = "save_preset"
    PRESETS = "presets"
    NEW_SEED = "new_seed"
    KEEP_SEED = "keep_seed"
    USE_SETTINGS = "use_settings"
    USE_PROMPT = "use_prompt"
    USE_SEED = "use_seed"
    USE_EVERYTHING = "use_everything"
    START_FROM = "start_from"
    FOLLOW = "follow"
    PROMPT_BY = "prompt_by"
    UPSCALE = "upscale"
    SHOW_ORIGINAL = "show_original"
    COPY_PICTURE = "copy_picture"
    COPY_PATH = "copy_path"
    REVEAL = "reveal"
    TRASH = "trash"
    COPY_SETTINGS = "copy_settings"
    FAVOURITE = "favourite"
    REJECT = "reject"
    RATE_0 = "rate_0"
    RATE_1 = "rate_1"
    RATE_2 = "rate_2"
    RATE_3 = "rate_3"
    RATE_4 = "rate_4"
    RATE_5 = "rate_5"
    COMPARE = "compare"
    TRASH_REJECTED = "trash_rejected"
    FIND = "find"
    GALLERY_FOLDERS = "gallery_folders"
    READ_FOLDERS = "read_folders"
    LARGER_TILES = "larger_tiles"
    SMALLER_TILES = "smaller_tiles"
    FULL_SCREEN = "full_screen"
    ZOOM_IN = "zoom_in"
    ZOOM_OUT = "zoom_out"
    ZOOM_FIT = "zoom_fit"
    ZOOM_ACTUAL = "zoom_actual"
    DETAILS = "details"
    COMPARE_START = "compare_start"
    PAINT = "paint"
    BRUSH = "brush"
    ERASER = "eraser"
    LASSO = "lasso"
    GROW = "grow"
    SMALLER_BRUSH = "smaller_brush"
    LARGER_BRUSH = "larger_brush"
    UNDO_STROKE = "undo_stroke"
    REDO_STROKE = "redo_stroke"
    INVERT_MASK = "invert_mask"
    CLEAR_MASK = "clear_mask"
    VEIL_COLOUR = "veil_colour"
    RUNTIMES = "runtimes"
    DEVICES = "devices"
    DOWNLOADS = "downloads"
    MESSAGES = "messages"
    UPDATES = "updates"
    SHORTCUTS = "shortcuts"
    QUIT = "quit"
    HEAVIER = "heavier"
    LIGHTER = "lighter"
    A_LITTLE_HEAVIER = "a_little_heavier"
    A_LITTLE_LIGHTER = "a_little_lighter"
    CLOSER = "closer"
    FARTHER = "farther"
    HOLD_START = "hold_start"
    HOLD_NEXT = "hold_next"
    DIVIDE = "divide"
    HOLD_TO_MOVE = "hold_to_move"
    MAKE_NEXT = "make_next"
    MAKE_EARLIER = "make_earlier"
    MAKE_LATER = "make_later"
    DUPLICATE_JOB = "duplicate_job"
    EDIT_JOB = "edit_job"
    RETRY_JOB = "retry_job"
    REMOVE_JOB = "remove_job"
    UNDO_IN_GALLERY = "undo_in_gallery"
    SHOW_LARGE = "show_large"
    PICTURE_BEFORE = "picture_before"
    PICTURE_AFTER = "picture_after"
    FIRST_PICTURE = "first_picture"
    LAST_PICTURE = "last_picture"
    ALL_PICTURES = "all_pictures"
    TRASH_MODEL = "trash_model"
    USE_CARD = "use_card"
    USE_EARLIER = "use_earlier"
    FORGET_EARLIER = "forget_earlier"
    RENAME_PRESET = "rename_preset"
    REMOVE_PRESET = "remove_preset"
    PRESET_EARLIER = "preset_earlier"
    PRESET_LATER = "preset_later"
    FOLDER_ABOVE = "folder_above"
    FOLDER_BEFORE = "folder_before"
    LIST_AGAIN = "list_again"
    EDIT_PATH = "edit_path"


# Actions that reuse a picture's settings, the most usual first.
REUSING = (
    ActionName.USE_SETTINGS,
    ActionName.USE_PROMPT,
    ActionName.USE_SEED,
    ActionName.USE_EVERYTHING,
)
# Actions by which a picture steers the next ones.
STEERING = (ActionName.START_FROM, ActionName.FOLLOW, ActionName.PROMPT_BY)
# Actions that work while the start picture is painted on.
PAINTING = (
    ActionName.BRUSH,
    ActionName.ERASER,
    ActionName.LASSO,
    ActionName.GROW,
    ActionName.SMALLER_BRUSH,
    ActionName.LARGER_BRUSH,
    ActionName.UNDO_STROKE,
    ActionName.REDO_STROKE,
    ActionName.INVERT_MASK,
    ActionName.CLEAR_MASK,
    ActionName.VEIL_COLOUR,
)
# The actions that give stars, by their number.
RATING = tuple(ActionName(f"rate_{stars}") for stars in range(6))

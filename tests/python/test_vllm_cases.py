"""Where each group of the shared facts about vLLM is tested, or why it is not; the file itself is not in this
repository, and looked for in $MMCPP_SHARED and in `shared` beside the checkout."""

import json
import os
import re
from pathlib import Path

import pytest

from mmcpp import ImageProcessor
from mmcpp.spec import preset_spec

ROOT = Path(__file__).resolve().parents[2]
CASES = Path(os.environ.get("MMCPP_SHARED", ROOT.parent / "shared")) / "cases" / "vllm_cases.json"

# group -> number of cases, and the tests that compare them, by file and name
TESTED: dict[str, tuple[int, list[str]]] = {
    "iter_token_matches": (22, ["test_prompt::test_matches_equal_the_reference"]),
    "iter_token_matches_errors": (1, ["test_prompt::test_matches_equal_the_reference"]),
    "replace_token_matches": (11, ["test_prompt::test_matches_equal_the_reference"]),
    "target_matches": (11, ["test_prompt::test_matches_equal_the_reference"]),
    "text_matches": (5, ["test_prompt::test_matches_equal_the_reference"]),
    "apply_updates": (20, ["test_prompt::test_token_plans_equal_the_reference_or_are_listed"]),
    "apply_updates_observed": (8, ["test_prompt::test_token_plans_equal_the_reference_or_are_listed"]),
    "apply_updates_quirks": (4, ["test_prompt::test_token_plans_equal_the_reference_or_are_listed"]),
    "apply_updates_fuzz": (200, ["test_prompt::test_token_plans_equal_the_reference_or_are_listed"]),
    "apply_updates_fuzz_where_0.11.2_differs": (
        1,
        ["test_prompt::test_token_plans_equal_the_reference_or_are_listed"],
    ),
    "out_of_order_items_hazard": (
        1,
        ["test_prompt::test_items_are_listed_in_item_order_where_vllm_lists_them_by_position"],
    ),
    "apply_text_updates": (20, ["test_prompt::test_text_plans_equal_the_reference"]),
    "apply_text_updates_fuzz": (80, ["test_prompt::test_text_plans_equal_the_reference"]),
    "text_fallback": (4, ["test_prompt::test_a_target_inside_a_token_is_found_as_text"]),
    "find_placeholders": (5, ["test_prompt::test_found_placeholders_equal_the_reference"]),
    "find_placeholders_fuzz": (100, ["test_prompt::test_found_placeholders_equal_the_reference"]),
    "is_embed_masks": (4, ["test_prompt_updates::test_masks_equal_the_reference"]),
    "select_text_masks": (5, ["test_prompt_updates::test_text_masks_equal_the_reference"]),
    "detect_applied": (7, ["test_prompt::test_detection_equals_the_reference"]),
    "placeholder_range": (11, ["test_placeholder::test_ranges_equal_the_reference"]),
    "argsort_positions": (8, ["test_placeholder::test_order_equals_the_reference"]),
    "truncate_after_expansion": (6, ["test_placeholder::test_truncation_equals_the_reference"]),
    "grouping": (
        3,
        [
            "test_fields::test_items_of_the_same_outputs_are_one_group",
            "test_fields::test_items_of_equal_shared_data_are_one_group",
        ],
    ),
    "fields": (9, ["test_fields::test_fields_split_and_merge_as_in_vllm"]),
    "fields_errors": (
        3,
        [
            "test_fields::test_outputs_of_different_numbers_of_items_are_refused",
            "test_fields::test_groups_are_of_one_modality_and_kind",
            "test_fields::test_sizes_that_do_not_fit_are_refused",
        ],
    ),
    "qwen_field_layout": (
        3,
        [
            "test_processing::test_a_text_equals_the_processor_called_directly",
            "test_processing::test_qwen_s_embeddings_come_with_their_grid",
        ],
    ),
    "cache_item_size": (9, ["test_cache_size::test_sizes_equal_the_reference"]),
    "lru_sender_receiver": (19, ["test_cache_mirror::test_traces_equal_the_reference_until_it_fails"]),
    "lru_receiver_semantics": (
        4,
        [
            "test_cache_mirror::test_a_miss_is_answered_by_sending_again_as_in_vllm",
            "test_cache_mirror::test_what_is_sent_again_replaces_what_was_there",
            "test_cache_mirror::test_all_that_a_request_misses_is_named_and_all_that_it_brings_is_kept",
            "test_cache_mirror::test_an_adapter_is_no_part_of_the_key",
        ],
    ),
    "end_to_end_cache_observed": (
        5,
        [
            "test_processing::test_a_request_with_one_picture_twice_beside_vllm_s",
            "test_cache_mirror::test_the_second_copy_in_a_request_is_not_sent",
        ],
    ),
    "encoder_cache_traces": (2, ["test_encoder_cache::test_traces_equal_vllm_s"]),
    "encoder_budget": (6, ["test_budget::test_encoder_budgets"]),
    "dummy_seq_len": (4, ["test_budget::test_dummy_lengths"]),
    "hash_golden": (21, ["test_hashing_vllm::test_digests_equal_the_reference"]),
    "hash_stream_bytes": (6, ["test_hashing_vllm::test_streams_equal_the_reference"]),
    "hash_relations": (
        14,
        [
            "test_hashing_vllm::test_relations_of_pictures_and_arrays",
            "test_hashing_vllm::test_relations_of_tensors",
            "test_hashing_vllm::test_relations_of_encoded_media",
            "test_hashing_vllm::test_damaged_exif_is_no_error",
            "test_hashing_vllm::test_options_of_another_shape_differ",
        ],
    ),
    "mm_hashes": (5, ["test_hashing_vllm::test_items_equal_the_reference"]),
    "mm_hashes_relations": (
        2,
        [
            "test_hashing_vllm::test_options_of_another_modality_do_not_count",
            "test_hashing_vllm::test_options_of_another_shape_differ",
        ],
    ),
    "uuid_parse": (5, ["test_identity::test_uuids_are_parsed_as_by_the_reference"]),
    "uuid_validation": (
        10,
        [
            "test_identity::test_uuids_are_checked_as_by_the_reference",
            "test_identity::test_items_that_nothing_caches_are_named_as_by_the_reference",
        ],
    ),
    "mm_processor_kwargs_merge": (9, ["test_options::test_merging"]),
    "mm_processor_kwargs_resolve": (2, ["test_options::test_resolving"]),
    "mm_processor_kwargs_merge_then_resolve": (4, ["test_options::test_merging_then_resolving"]),
    "device_normalize_kwargs": (3, ["test_options::test_nothing_is_normalised_twice"]),
    "device_normalize_scoped_hole": (
        1,
        [
            "test_options::test_nothing_is_normalised_twice",
            "test_processing::test_no_option_anywhere_switches_normalisation_on_twice",
        ],
    ),
    "device_normalize_dtype_observed": (
        2,
        [
            "test_processing::test_pixels_are_left_to_the_device_whatever_a_request_says",
            "test_processing::test_the_native_family_gives_bytes_for_the_device",
        ],
    ),
    "limits": (
        15,
        [
            "test_budget::test_limits_of_modalities",
            "test_budget::test_the_smaller_limit_counts",
            "test_budget::test_requests_over_a_limit_are_refused",
        ],
    ),
    "limits_apply": (7, ["test_budget::test_requests_over_a_limit_are_refused"]),
    "parser": (47, ["test_parse::test_forms_equal_vllm_s"]),
    "fused_norm": (
        6,
        [
            "test_torch::test_weights_equal_vllm_s",
            "test_torch::test_every_byte_becomes_what_it_does_in_vllm",
            "test_torch::test_what_is_identity",
            "test_torch::test_channels_lie_one_behind_the_other",
            "test_torch::test_what_does_not_fit_is_refused",
        ],
    ),
    "qwen_size_with_most_features": (7, ["test_budget::test_the_picture_of_the_most_tokens"]),
    "qwen_processor_override": (3, ["test_budget::test_a_request_s_bounds_decide_what_a_picture_costs"]),
    "qwen_size_aliases": (6, ["test_options::test_pixel_bounds_are_completed"]),
    "qwen_vision_size": (5, ["test_options::test_what_bounds_options_come_to"]),
    "qwen_request_alias_precedence": (5, ["test_options::test_a_request_wins_in_whatever_form_it_speaks"]),
    "qwen_smart_resize": (11, ["test_vllm_cases::test_sizes_of_qwen_vl"]),
    "processing_correctness_method": (
        5,
        ["test_processing::test_cached_equals_uncached_and_the_processor_in_every_form"],
    ),
}

DIFFERENCES = "cpp/docs/vllm_differences.md: LMDB and Redis take the place of a ring in shared memory"
TIMES = "no test depends on a time: bench/python compares them with vLLM's own planner"
PICTURES = "pictures are decoded as Pillow and transformers do, see test_decode_*.py; vLLM's loader is no reference"
FETCHING = "sources are fetched by the rules of fetch.h, see test_fetching.py; vLLM's connector is no reference"
FILMS = "films and sounds are not decoded or sampled here"

# group -> number of cases, and why they are not compared
ELSEWHERE: dict[str, tuple[int, str]] = {
    "shm_scenario": (7, DIFFERENCES),
    "shm_handle_rules": (9, DIFFERENCES),
    "perf_contracts": (3, TIMES),
    "rgba_blend": (4, PICTURES),
    "rgba_blend_full": (3, PICTURES),
    "image_convert": (9, PICTURES),
    "exif_transpose": (10, PICTURES),
    "rgba_background_validation": (8, PICTURES),
    "image_load_io_config": (6, PICTURES),
    "image_load_errors": (5, PICTURES),
    "image_formats": (3, PICTURES),
    "decode_budget": (9, PICTURES),
    "connector_urls": (12, FETCHING),
    "connector_files": (2, FETCHING),
    "connector_init_errors": (2, FETCHING),
    "connector_domains": (11, FETCHING),
    "fetch_error_mapping": (21, FETCHING),
    "fetch_retry": (6, FETCHING),
    "download_limits": (4, FETCHING),
    "media_cache_paths": (7, FETCHING),
    "media_disk_cache": (4, FETCHING),
    "media_io_kwargs_merge": (19, FETCHING),
    "media_io_kwargs_merge_empty": (3, FETCHING),
    "video_frame_indices": (182, FILMS),
    "video_loader_registry": (3, FILMS),
    "video_candidate_fps": (7, FILMS),
    "video_jpeg_sequence": (9, FILMS),
    "sample_frames_from_video": (4, FILMS),
    "audio_normalize": (9, FILMS),  # what parse_media does of it: test_parse.test_channels
    "audio_split": (10, FILMS),
    "audio_find_split_point": (5, FILMS),
    "audio_resample_lengths": (3, FILMS),
    "video_prune_counts": (2, FILMS),
    "evs_mask": (6, FILMS),
}


@pytest.mark.skipif(not CASES.exists(), reason=f"no {CASES}")
def test_every_group_is_accounted_for() -> None:
    groups = {name: len(cases) for name, cases in json.loads(CASES.read_text())["cases"].items()}
    assert {name: count for name, (count, _) in (TESTED | ELSEWHERE).items()} == groups
    assert not TESTED.keys() & ELSEWHERE.keys()


def test_the_tests_named_exist() -> None:
    for group, (_, tests) in TESTED.items():
        assert tests, group
        for test in tests:
            file, name = test.split("::")
            source = (ROOT / "tests/python" / f"{file}.py").read_text(encoding="utf-8")
            assert re.search(rf"^def {name}\(", source, re.MULTILINE), test


@pytest.mark.parametrize(
    ("height", "width", "factor", "least", "most", "resized", "tokens"),
    [
        (876, 1300, 28, 3136, 1003520, (812, 1204), 1247),
        (876, 1300, 28, 4096, 262144, (420, 616), 330),
        (1, 1, 28, 3136, 12845056, (56, 56), 4),
        (27, 5000, 28, 3136, 12845056, (28, 5012), 179),
        (10, 2001, 28, 3136, 12845056, None, 0),
        (14, 14, 28, 3136, 1003520, (56, 56), 4),
        (42, 42, 28, 3136, 1003520, (56, 56), 4),
        (4000, 6000, 28, 3136, 1003520, (812, 1204), 1247),
        (1080, 1920, 28, 3136, 12845056, (1092, 1932), 2691),
        (224, 224, 32, 65536, 16777216, (256, 256), 64),
        (1080, 1920, 32, 65536, 16777216, (1088, 1920), 2040),
    ],
)
def test_sizes_of_qwen_vl(
    height: int, width: int, factor: int, least: int, most: int, resized: tuple[int, int] | None, tokens: int
) -> None:
    sizes = {"patch_size": factor // 2, "merge_size": 2, "min_pixels": least, "max_pixels": most}
    processor = ImageProcessor.from_spec(preset_spec("qwen2_vl") | sizes)
    if resized is None:
        with pytest.raises(ValueError, match="aspect ratio"):
            processor.plan(height, width)
        return
    plan = processor.plan(height, width)
    assert ((plan.resized_height, plan.resized_width), plan.tokens) == (resized, tokens)

"""Which tests hold the faults that users of other servers and of the reference crate have met.

The reports are those of a collection that the tests do not need: without it only the names of the tests are checked.
"""

import json
import os
import re
from pathlib import Path

import pytest
from source_tree import ROOT

SHARED = Path(os.environ.get("MMCPP_SHARED", ROOT.parent / "shared"))
FILE = SHARED / "cases/field_reports.json"
CRATE = SHARED / "spec/reference-sglang-mm.md"

# report -> the tests that hold it: file below tests/ and name
REPORTS: dict[str, list[str]] = {
    # sources that carry their bytes with them
    "U02": [
        "python/test_fetch_reports.py::test_data_urls_without_base64",
        "cpp/driver/source_test.cc::DataUrl.Accepts",
        "cpp/driver/source_test.cc::DataUrl.Refuses",
    ],
    "U03": [
        "python/test_fetch_reports.py::test_base64_as_clients_send_it",
        "cpp/driver/source_test.cc::DataUrl.Accepts",
        "cpp/driver/source_test.cc::DataUrl.Refuses",
        "cpp/driver/source_test.cc::DataUrl.UrlSafeAlphabetIsAnOption",
    ],
    # sources from outside
    "S01": [
        "python/test_fetch_reports.py::test_no_private_address_is_ever_connected_to",
        "cpp/fetch/group_test.cc::Group.UnderTheDefaultPolicyNothingOnThisMachineIsConnectedTo",
        "cpp/fetch/policy_test.cc::Policy.DefaultRefusesEveryAddressThatIsNotPublic",
        "cpp/fetch/policy_test.cc::Policy.OneBadAddressRefusesTheName",
        "cpp/fetch/address_test.cc::Address.LooseIpv4IsReadAsBrowsersDo",
        "cpp/fetch/address_test.cc::Address.FindsTheIpv4Inside",
        "cpp/fetch/url_test.cc::Url.RefusesWhatParsersReadDifferently",
    ],
    "S02": [
        "python/test_fetch_reports.py::test_every_hop_of_a_redirect_is_looked_at",
        "cpp/fetch/group_test.cc::Group.ARedirectIsJudgedLikeAFirstUrl",
        "cpp/fetch/group_test.cc::Group.ARedirectMustKeepToTheHostList",
        "cpp/fetch/group_test.cc::Group.ARedirectMustKeepToTheSchemes",
        "cpp/fetch/group_test.cc::Group.RedirectsAreCounted",
        "cpp/fetch/group_test.cc::Group.RedirectLoopsEnd",
        "cpp/fetch/group_test.cc::Group.ARedirectWithoutLocationFails",
        "server/server_test.py::test_a_redirect_leads_nowhere_else",
    ],
    "S04": [
        "python/test_fetch_reports.py::test_a_name_that_changes_its_address_is_looked_at_again",
        "cpp/fetch/group_test.cc::Group.NamesAreResolvedOnceAndPinned",
        "cpp/fetch/group_test.cc::Group.ARedirectToTheSameNameUsesTheCheckedAddress",
        "cpp/fetch/group_test.cc::Group.MixedAnswersAreRefused",
    ],
    "S05": [
        "python/test_fetch_reports.py::test_local_files_are_nobodys_unless_a_folder_is_given",
        "cpp/fetch/file_test.cc::LocalFile.NothingOutsideByAnyRoute",
        "cpp/fetch/file_test.cc::LocalFile.NoneByDefault",
        "server/server_test.py::test_a_file_of_the_folder",
    ],
    "S07": [
        "python/test_fetch_reports.py::test_a_server_that_keeps_one_waiting",
        "python/test_fetch_reports.py::test_a_server_that_never_accepts",
        "python/test_service_reports.py::test_a_request_that_failed_is_not_sent_again",
        "python/test_cancelling.py::test_a_source_that_is_slow",
        "cpp/fetch/transfer_test.cc::Transfer.RefusesWhatIsNotWhole",
        "cpp/fetch/transfer_test.cc::Transfer.ADripFeedEndsAtTheDeadline",
        "cpp/fetch/fetch_test.cc::Fetch.CanBeCancelled",
    ],
    "S08": [
        "python/test_fetch_reports.py::test_a_proxy_is_no_way_around_the_policy",
        "cpp/fetch/group_test.cc::Group.AProxyIsNoWayAround",
        "cpp/fetch/proxy_test.cc::Proxy.DecisionsEqualRequests",
        "cpp/fetch/fetch_test.cc::Fetch.ReadsTheProxyVariablesWhenAsked",
    ],
    # prompts, positions, caches
    "P01": [
        "python/test_processing_prompt.py::test_text_of_users_does_not_become_an_image",
        "python/test_prompt.py::test_a_placeholder_that_a_user_typed_is_refused_or_left_as_it_is",
    ],
    "P02": [
        "python/test_processing_prompt.py::test_text_of_users_does_not_become_an_image",
        "python/test_processing_prompt.py::test_items_and_placeholders_must_match",
    ],
    "P04": [
        "python/test_prompt_reports.py::test_any_number_of_items_for_any_number_of_placeholders",
        "python/test_prompt.py::test_counts_that_differ_are_refused_by_name",
        "python/test_processing_prompt.py::test_items_and_placeholders_must_match",
    ],
    "P05": [
        "python/test_processing_prompt.py::test_a_tokenizer_that_cuts_prompts_off_never_cuts_an_item",
        "python/test_placeholder.py::test_truncation_equals_the_reference",
    ],
    "P07": [
        "python/test_processing.py::test_a_text_equals_the_processor_called_directly",
        "python/test_processing_prompt.py::test_placeholders_are_where_the_items_stand",
    ],
    "P08": ["python/test_processing_prompt.py::test_the_token_that_receives_embeddings_is_the_processor_s"],
    "R01": [
        "python/test_prompt_reports.py::test_a_still_picture_stands_at_one_time_and_the_delta_is_the_whole_prompt_s",
        "python/test_prompt_reports.py::test_two_pictures_follow_each_other",
        "python/test_mrope_hf.py::test_positions_equal_those_of_transformers",
    ],
    "R05": [
        "python/test_prompt_reports.py::test_a_still_picture_stands_at_one_time_and_the_delta_is_the_whole_prompt_s"
    ],
    "C01": [
        "python/test_prompt_reports.py::test_identities_are_wide_and_see_the_form_of_the_content",
        "python/test_identity.py::test_pictures_are_all_that_is_seen",
        "python/test_identity.py::test_arrays_are_their_content",
    ],
    "C02": [
        "python/test_prompt_reports.py::test_identities_are_wide_and_see_the_form_of_the_content",
        "python/test_identity.py::test_many_pictures_have_as_many_keys",
    ],
    "C04": [
        "python/test_prompt_reports.py::test_a_client_s_name_is_bound_to_what_it_named_first",
        "python/test_processing.py::test_a_name_of_other_content_is_refused",
        "python/test_processing.py::test_items_by_uuid",
    ],
    "C05": [
        "python/test_prompt_reports.py::test_a_request_of_twenty_pictures_in_a_cache_of_three",
        "python/test_prompt_reports.py::test_handles_are_let_go_of_in_any_order",
        "python/test_cache_mirror.py::test_the_receiver_never_holds_more_whatever_is_lost_or_restarted",
    ],
    "C07": ["python/test_prompt_reports.py::test_what_stands_behind_an_address_is_known_by_its_bytes"],
    # threads, processes, memory
    "F01": ["python/test_service_reports.py::test_threads_are_as_many_as_processors_or_as_were_asked_for"],
    "F03": [
        "python/test_pipeline.py::test_eight_threads_get_what_one_gets",
        "python/test_pipeline.py::test_errors_in_threads_stay_apart",
        "python/test_family.py::test_many_threads",
    ],
    "F04": [
        "cpp/driver/memory_test.cc::Memory.OfARequestIsAFewRows",
        "cpp/driver/item_test.cc::ProcessItem.OfEncodedBytesIsThatOfTheirPixels",
    ],
    "F06": [
        "python/test_memory.py::test_what_is_held_does_not_grow_and_can_be_given_back",
        "cpp/base/block_pool_test.cc::BlockPool.KeepsTheLatestUpToItsSum",
        "cpp/base/block_pool_test.cc::BlockPool.FreesWhatWaitedLong",
    ],
    "F07": [
        "python/hf/test_processor.py::test_batch_feature_and_attributes_are_those_of_transformers",
        "python/test_fields.py::test_outputs_are_split_into_items_and_merged_back",
    ],
    "F09": [
        "python/test_hashing.py::test_digest_is_blake3",
        "python/test_service_reports.py::test_work_leaves_the_gil_to_others",
        "cpp/driver/duplicates_test.cc::Process.EqualItemsAreProcessedOnce",
    ],
    # the interface
    "A01": [
        "python/hf/test_settings.py::test_a_class_is_known_by_its_name_its_module_and_its_backend",
        "python/test_hf_pretrained.py::test_saved_processors",
        "cpp/families/registry_test.cc::FamilyFromSpec.UnknownKeys",
    ],
    "A03": [
        "python/test_pipeline.py::test_counting_needs_no_pixels",
        "python/cli/test_count.py::test_sizes_and_files_under_every_preset",
        "python/cli/test_count.py::test_only_vllm_turns",
    ],
    "A04": ["arch/test_python.py::test_the_extension_declares_that_it_needs_no_gil"],
    "A06": [
        "python/test_service_reports.py::test_errors_name_the_item_and_not_what_it_held",
        "python/test_service_reports.py::test_pictures_in_errors_are_named_and_not_shown",
        "python/test_pipeline.py::test_a_bad_item_harms_no_other",
    ],
}
# report -> why no test holds it, or what of it none does
WITHOUT: dict[str, str] = {
    "R02": "positions of films, which are not computed here",
    "R04": "positions of films, which are not computed here",
}
IN_PART: dict[str, str] = {
    "S07": "nothing is tried again: the caller knows what may be",
    "F01": "a quota of a control group is not read, for the library opens no file; MMCPP_THREADS is the cap",
    "F04": "how fast it is says ./dev bench; a test of times would fail on a machine with other work",
    "A04": "there is no free-threaded Python to run the tests with; ./dev tsan runs the core's",
}

# weakness of the reference crate, by its number in the specification -> the tests that hold it
CRATE_FAULTS: dict[str, list[str]] = {
    "1 JPEG is not exact, and what is cut short is taken": [
        "python/test_decode_jpeg_webp.py::test_ordinary_jpegs",
        "python/test_decode_reports.py::test_a_jpeg_that_lacks_a_byte_of_its_end_is_refused",
    ],
    "2 not Pillow 13's order of passes": ["cpp/resample/resize_test.cc::ResizeTest.EqualsPillow13"],
    "3 precision at the edge": ["cpp/resample/coeffs_test.cc::MakeAxisWeights.AtenPrecisionIsTheMostThatInt16Holds"],
    "4 MiMo and InternVL nearly equal to torch": ["cpp/families/mimo_v2_test.cc::FloatFamilies.FeaturesEqualTorch"],
    "5 whole pictures and copies": [
        "cpp/driver/memory_test.cc::Memory.OfARequestIsAFewRows",
        "python/test_pipeline.py::test_features_own_the_core_memory",
    ],
    "6 a child hangs after fork": [
        "cpp/par/par_test.cc::Par.AChildAfterForkRuns",
        "python/test_service_reports.py::test_a_forked_child_works",
    ],
    "6 panic at a redirect to a file": [
        "cpp/fetch/group_test.cc::Group.ARedirectIsJudgedLikeAFirstUrl",
        "server/server_test.py::test_a_redirect_leads_nowhere_else",
    ],
    "6 division by zero": [
        "cpp/prompt/mrope_test.cc::MropePositions.RefusesWhatTheReferenceCrashedOn",
        "python/test_qwen_vl.py::test_mrope_without_a_merge_is_an_error_and_no_crash",
    ],
    "6 the process ends at a huge rescale": ["python/test_inkling.py::test_a_huge_rescale_is_an_error_and_no_crash"],
    "6 scrambled pictures in Fortran's order": [
        "python/test_common.py::test_resize_refuses_with_the_words_of_the_crate",
        "python/test_pipeline.py::test_what_is_no_picture_is_refused",
    ],
    "6 features in float32 alone": ["python/test_pipeline.py::test_dtypes"],
    "6 positions hold the GIL": ["python/test_service_reports.py::test_work_leaves_the_gil_to_others"],
    "7 64 MiB less one": ["cpp/fetch/fetch_test.cc::Fetch.SixtyFourMebibytesExactly"],
    "7 one source after the other": ["cpp/fetch/group_test.cc::Group.ManySourcesComeInOrder"],
    "7 no policy of hosts and files": [
        "cpp/fetch/fetch_test.cc::Fetch.TheDefaultPolicyKeepsOffThisMachine",
        "cpp/fetch/file_test.cc::LocalFile.NoneByDefault",
    ],
    "7 bombs": ["python/test_decode_reports.py::test_bombs_are_refused_from_the_header"],
    "7 proxies unlike requests, without credentials": [
        "cpp/fetch/proxy_test.cc::Proxy.DecisionsEqualRequests",
        "cpp/fetch/transfer_test.cc::Transfer.HttpProxiesGetTheWholeUrlAndTheirCredentials",
    ],
    "8 families are fixed, and few": [
        "python/test_family.py::test_a_whole_request",
        "python/test_hf_pretrained.py::test_saved_processors",
    ],
    "8 16 bits and turns": [
        "python/test_decode_reports.py::test_sixteen_bits_are_clipped_in_gray_and_cut_in_colour",
        "python/test_decode_exif.py::test_every_orientation",
    ],
    "9 counting needs pixels": ["cpp/driver/driver_test.cc::PlanRequest.EqualsProcessWithoutPixels"],
    "9 no cache": ["cpp/cache/item_cache_test.cc::ItemCache.MakesEachValueOnce"],
    "9 no times and counters": [
        "cpp/driver/driver_test.cc::Process.CountsWhatItDid",
        "server/server_test.py::test_metrics_count_what_requests_came_to",
    ],
    "10 bad media answered with 500": [
        "python/test_decode_reports.py::test_damage_is_the_senders_fault",
        "server/server_test.py::test_whatever_is_sent_the_refusal_is_typed_and_tells_nothing",
    ],
    "10 large corrupt media hang": ["cpp/driver/stop_test.cc::Stop.InTheMiddleOfScansOfAProgressiveJpeg"],
}


def is_there(test: str) -> bool:
    file, _, name = test.partition("::")
    path = ROOT / "tests" / file
    if not path.is_file():
        return False
    python, cpp = rf"^ *(async )?def {name}\(", rf"^TEST(_F|_P)?\({name.replace('.', ', ')}\)"
    pattern = python if path.suffix == ".py" else cpp
    return re.search(pattern, path.read_text(encoding="utf-8"), re.MULTILINE) is not None


def test_the_tests_named_exist() -> None:
    named = [test for tests in (*REPORTS.values(), *CRATE_FAULTS.values()) for test in tests]
    assert [test for test in named if not is_there(test)] == []
    assert all(REPORTS.values()) and all(CRATE_FAULTS.values())
    assert IN_PART.keys() <= REPORTS.keys()


@pytest.mark.parametrize(
    "test", ["python/test_spec.py::test_absent", "python/absent.py::test_x", "cpp/par/par_test.cc::Par.Absent"]
)
def test_a_test_that_does_not_exist_is_noticed(test: str) -> None:
    assert not is_there(test)


@pytest.mark.skipif(not FILE.exists(), reason=f"no {FILE}")
def test_every_report_is_accounted_for() -> None:
    """Those of decoding (D) and of geometry (G) are held by tests named after them: test_decode_reports.py and the
    families' own."""
    found = {report["id"] for report in json.loads(FILE.read_text(encoding="utf-8"))}
    assert not REPORTS.keys() & WITHOUT.keys()
    assert REPORTS.keys() | WITHOUT.keys() == {name for name in found if name[0] not in "DG"}


@pytest.mark.skipif(not CRATE.exists(), reason=f"no {CRATE}")
def test_every_weakness_of_the_crate_is_accounted_for() -> None:
    weaknesses = CRATE.read_text(encoding="utf-8").partition("\nWeaknesses")[2]
    numbers = set(re.findall(r"^(\d+)\. ", weaknesses, re.MULTILINE))
    assert len(numbers) == 10
    assert {name.split()[0] for name in CRATE_FAULTS} == numbers

// Prompt updates: what mmcpp.prompt binds once and then plans, applies, finds and detects with.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bindings.h"
#include "mmcpp/prompt_update.h"

namespace mmcpp::bindings {
namespace {

/// Borrows or makes the symbols of a prompt or a part of an update: int64 arrays as they are,
/// sequences of ints by value, texts by code point.
class Symbols {
 public:
  explicit Symbols(const py::handle& object) {
    if (PyUnicode_Check(object.ptr()) != 0) {
      FromText(object);
    } else if (py::isinstance<py::array_t<int64_t>>(object)) {
      FromArray(py::reinterpret_borrow<py::array_t<int64_t>>(object));
    } else {
      FromSequence(object);
    }
  }
  Span<const int64_t> view() const { return borrowed_.data() != nullptr ? borrowed_ : owned_; }
  std::vector<int64_t> Take() && {
    if (borrowed_.data() != nullptr) return {borrowed_.begin(), borrowed_.end()};
    return std::move(owned_);
  }

 private:
  void FromText(const py::handle& text) {
    const auto length = static_cast<size_t>(PyUnicode_GET_LENGTH(text.ptr()));
    const int kind = PyUnicode_KIND(text.ptr());
    const void* data = PyUnicode_DATA(text.ptr());
    owned_.resize(length);
    for (size_t i = 0; i < length; ++i) {
      owned_[i] = PyUnicode_READ(kind, data, static_cast<Py_ssize_t>(i));
    }
  }
  void FromArray(const py::array_t<int64_t>& array) {
    if (array.ndim() != 1) throw py::value_error("token ids: expected one dimension");
    if ((array.flags() & py::array::c_style) == 0) {
      throw py::value_error("token ids: expected an array in C order");
    }
    array_ = array;
    borrowed_ = {array.data(), static_cast<size_t>(array.size())};
  }
  void FromSequence(const py::handle& object) {
    const auto fast = py::reinterpret_steal<py::object>(
        PySequence_Fast(object.ptr(), "token ids: expected a sequence of ints, an array or a str"));
    if (!fast) throw py::error_already_set();
    const Py_ssize_t size = PySequence_Fast_GET_SIZE(fast.ptr());
    PyObject** items = PySequence_Fast_ITEMS(fast.ptr());
    owned_.reserve(static_cast<size_t>(size));
    for (Py_ssize_t i = 0; i < size; ++i) {
      const int64_t value = PyLong_AsLongLong(items[i]);
      if (value == -1 && PyErr_Occurred() != nullptr) throw py::error_already_set();
      owned_.push_back(value);
    }
  }

  std::vector<int64_t> owned_;
  py::object array_;
  Span<const int64_t> borrowed_;
};

py::str ToText(const std::vector<int64_t>& symbols) {
  std::vector<Py_UCS4> points(symbols.begin(), symbols.end());
  PyObject* text = PyUnicode_FromKindAndData(PyUnicode_4BYTE_KIND, points.data(),
                                             static_cast<Py_ssize_t>(points.size()));
  if (text == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::str>(text);
}

std::vector<bool> ToMask(const py::handle& object) {
  if (object.is_none()) return {};
  const auto array = py::cast<py::array_t<bool, py::array::c_style | py::array::forcecast>>(object);
  return std::vector<bool>(array.data(), array.data() + array.size());
}

/// (mode, place or None, target, content, mask or None).
PromptUpdate ToUpdate(const py::tuple& value) {
  using Kind = UpdateTarget::Kind;
  PromptUpdate update;
  update.mode =
      value[0].cast<std::string>() == "insert" ? UpdateMode::kInsert : UpdateMode::kReplace;
  if (!value[1].is_none()) {
    const auto place = value[1].cast<std::string>();
    update.target.kind =
        place == "start" ? Kind::kStart : (place == "end" ? Kind::kEnd : Kind::kPrefix);
  }
  update.target.tokens = Symbols(value[2]).Take();
  update.content.tokens = Symbols(value[3]).Take();
  update.content.embed_mask = ToMask(value[4]);
  return update;
}

struct Updates {
  std::vector<ModalityUpdates> modalities;
};

/// [(modality, [[update]], [placeholder])].
std::shared_ptr<Updates> ToUpdates(const py::list& modalities) {
  auto updates = std::make_shared<Updates>();
  for (const auto& entry : modalities) {
    const auto parts = entry.cast<py::tuple>();
    ModalityUpdates& modality = updates->modalities.emplace_back();
    modality.modality = parts[0].cast<std::string>();
    modality.items.reserve(py::len(parts[1]));
    const PyObject* last = nullptr;
    for (const auto& alternatives : parts[1]) {
      if (alternatives.ptr() == last) {  // items may share all of their alternatives
        modality.items.push_back(modality.items.back());
        continue;
      }
      last = alternatives.ptr();
      auto& item = modality.items.emplace_back();
      for (const auto& update : alternatives) item.push_back(ToUpdate(update.cast<py::tuple>()));
    }
    for (const auto& tokens : parts[2]) {
      modality.placeholders.push_back(Symbols(tokens).Take());
    }
  }
  return updates;
}

/// int64 [5, n]: modalities, items, alternatives, starts, lengths. One array rather than n tuples,
/// each of which Python's garbage collector would have to look at.
py::array ToColumns(const std::vector<Placement>& placements) {
  const size_t count = placements.size();
  std::vector<int64_t> columns(5 * count);
  for (size_t i = 0; i < count; ++i) {
    const Placement& p = placements[i];
    const size_t values[] = {p.modality, p.item, p.alternative, p.start, p.length};
    for (size_t c = 0; c < 5; ++c) columns[c * count + i] = static_cast<int64_t>(values[c]);
  }
  return ToArray(std::move(columns)).reshape({py::ssize_t{5}, static_cast<py::ssize_t>(count)});
}

py::list ToList(const std::vector<SurplusPlaceholder>& surplus) {
  py::list result;
  for (const SurplusPlaceholder& s : surplus) {
    result.append(py::make_tuple(s.modality, s.begin, s.end));
  }
  return result;
}

py::object OrNone(size_t position) {
  return position == kNowhere ? py::object(py::none()) : py::object(py::int_(position));
}

void BindPlan(py::module_& m) {
  py::class_<UpdatePlan>(m, "UpdatePlan", "Which update applies where in a prompt.")
      .def_property_readonly("applied",
                             [](const UpdatePlan& plan) {
                               py::list modalities;
                               for (const auto& items : plan.applied) {
                                 py::list alternatives;
                                 for (const size_t a : items) {
                                   alternatives.append(OrNone(a));
                                 }
                                 modalities.append(alternatives);
                               }
                               return modalities;
                             })
      .def_property_readonly("complete",
                             [](const UpdatePlan& plan) {
                               for (const auto& items : plan.applied) {
                                 for (const size_t a : items) {
                                   if (a == kNoAlternative) return false;
                                 }
                               }
                               return true;
                             })
      .def_property_readonly("surplus",
                             [](const UpdatePlan& plan) { return ToList(plan.surplus); });
  m.def(
      "plan_updates",
      [](const py::object& prompt, const Updates& updates, bool vllm) {
        const Symbols symbols(prompt);
        const UpdateRules rules = vllm ? UpdateRules::kVllm : UpdateRules::kFixed;
        return CallNoGil([&] { return PlanUpdates(symbols.view(), updates.modalities, rules); });
      },
      py::arg("prompt"), py::arg("updates"), py::arg("vllm"), "What applies where.");
  m.def(
      "check_plan",
      [](const Updates& updates, const UpdatePlan& plan, bool refuse_surplus) {
        (void)Unwrap(CheckPlan(updates.modalities, plan, refuse_surplus));
      },
      py::arg("updates"), py::arg("plan"), py::arg("refuse_surplus"),
      "Raises where items and placeholders do not match.");
  m.def(
      "apply_plan",
      [](const py::object& prompt, const Updates& updates, const UpdatePlan& plan,
         uint64_t max_tokens) -> py::tuple {
        const Symbols symbols(prompt);
        UpdatedPrompt result = CallNoGil(
            [&] { return ApplyPlan(symbols.view(), updates.modalities, plan, max_tokens); });
        const bool text = PyUnicode_Check(prompt.ptr()) != 0;
        const py::array placements = ToColumns(result.placements);
        return py::make_tuple(text ? py::object(ToText(result.tokens))
                                   : py::object(ToArray(std::move(result.tokens))),
                              placements);
      },
      py::arg("prompt"), py::arg("updates"), py::arg("plan"), py::arg("max_tokens"),
      "(int64 [n] or str, int64 [5, items]: modality, item, alternative, start, length).");
}

py::dict Detect(const py::object& prompt, const Updates& updates) {
  const Symbols symbols(prompt);
  const UpdateDetection detection =
      CallNoGil([&] { return DetectUpdates(symbols.view(), updates.modalities); });
  py::list missing;
  for (const MissingItem& item : detection.missing) {
    missing.append(py::make_tuple(item.modality, item.item, OrNone(item.target_begin),
                                  OrNone(item.target_end), OrNone(item.content_start)));
  }
  py::dict result;
  result["state"] = UpdateStateName(detection.state);
  result["ambiguous"] = detection.ambiguous;
  result["reason"] = detection.reason;
  result["found"] = ToColumns(detection.found);
  result["missing"] = missing;
  result["surplus"] = ToList(detection.surplus);
  return result;
}

}  // namespace

void BindPromptUpdate(py::module_& m) {
  m.def(
      "token_ids",
      [](const py::object& ids) -> py::object {
        if (py::isinstance<py::array_t<int64_t>>(ids)) return ids;
        if (PyUnicode_Check(ids.ptr()) != 0) throw py::type_error("token ids: got a str");
        return ToArray(Symbols(ids).Take());
      },
      py::arg("ids"), "int64 [n]; an int64 array is given back as it is.");
  py::class_<Updates, std::shared_ptr<Updates>>(m, "PromptUpdates",
                                                "Updates of all items, converted once.")
      .def(
          py::init(&ToUpdates), py::arg("modalities"),
          "[(modality, [[(mode, place or None, target, content, mask or None)]], [placeholder])].");
  BindPlan(m);
  m.def(
      "find_placeholders",
      [](const py::object& prompt, const Updates& updates) {
        const Symbols symbols(prompt);
        return ToColumns(
            CallNoGil([&] { return FindPlaceholders(symbols.view(), updates.modalities); }));
      },
      py::arg("prompt"), py::arg("updates"),
      "int64 [5, n]: modality, item, alternative, start, length.");
  m.def("detect_updates", &Detect, py::arg("prompt"), py::arg("updates"),
        "The fields of Detection.");
  m.def(
      "find_matches",
      [](const py::object& prompt, const py::object& target, size_t start) {
        const Symbols symbols(prompt), wanted(target);
        py::list begins;
        for (const size_t begin : FindMatches(symbols.view(), wanted.view(), start)) {
          begins.append(begin);
        }
        return begins;
      },
      py::arg("prompt"), py::arg("target"), py::arg("start"), "Begins of the matches.");
}

}  // namespace mmcpp::bindings

"""One module per model family: its spec as a dataclass, read from a checkpoint, and its presets."""

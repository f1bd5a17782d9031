"""Stands in for peft, which needs PyTorch: SkyRL's JAX backend writes adapter_config.json with it and reads nothing."""

import json
import pathlib


class LoraConfig:
    def __init__(self, base_model_name_or_path, r, lora_alpha):
        self.fields = {
            "peft_type": "LORA",
            "base_model_name_or_path": base_model_name_or_path,
            "r": r,
            "lora_alpha": lora_alpha,
        }

    def save_pretrained(self, directory):
        pathlib.Path(directory, "adapter_config.json").write_text(json.dumps(self.fields))

"""What is promised, measured: small by default, with the promised numbers under `--full`."""

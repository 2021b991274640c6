"""What commands print: tables, YAML and JSON, findings, answers. Functions here return text, they print nothing."""

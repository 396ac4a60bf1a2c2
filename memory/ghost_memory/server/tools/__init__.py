"""The tools, one module for each thing they are about; `catalogue` lists all."""

"""Measurements of smooth motion and linkages, run by `benches/motion.py`."""

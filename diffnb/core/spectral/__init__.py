"""Graphs of features or observations, their random walks and eigenvectors."""

"""Clusters: a crew whose workers are those of a Dask cluster, on many machines.

`local` and `connection` are the client's side, `worker`, `preload` and `relay` a Dask worker's, `device` the process
beside it in which the driver runs. Nothing here is imported unless a cluster is asked for.
"""

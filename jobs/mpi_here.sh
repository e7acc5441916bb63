# Sourced: lets mpirun start more ranks than there are cores on this machine, also as root.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1
# A setting of the caller's shell must not change what is recorded.
for variable in $(compgen -e SCALEPROF_ || true); do unset "$variable"; done

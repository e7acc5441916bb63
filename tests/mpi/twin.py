"""The twin of twin.c in Python, by mpi4py (which loads libmpi into a scope of its own)."""
import sys
from array import array

from mpi4py import MPI

world = MPI.COMM_WORLD
rank, size = world.Get_rank(), world.Get_size()
left, right = (rank + size - 1) % size, (rank + 1) % size


def ints(*values):
    return array("i", values)


mine, value, total, pair = ints(rank), ints(rank), ints(0), ints(0, 0)
matrix, everyone = array("d", [0] * 8), ints(*[0] * size)
world.Allreduce([mine, MPI.INT], [total, MPI.INT], MPI.SUM)
world.Allreduce(MPI.IN_PLACE, [value, MPI.INT], MPI.MAX)
assert total[0] == size * (size - 1) // 2 and value[0] == size - 1
world.Bcast([matrix, MPI.DOUBLE], 0)
everyone[rank] = rank
if rank == 0:
    world.Gather(MPI.IN_PLACE, [everyone, 1, MPI.INT], 0)
else:
    world.Gather([mine, MPI.INT], None, 0)
world.Allgatherv([mine, MPI.INT], [everyone, [1] * size, list(range(size)), MPI.INT])
assert everyone[size - 1] == size - 1
request = world.Iallreduce([mine, MPI.INT], [total, MPI.INT], MPI.SUM)
request.Wait()
assert total[0] == size * (size - 1) // 2
world.Barrier()

world.Sendrecv([mine, MPI.INT], right, 1, [value, MPI.INT], left, 1)
assert value[0] == left
r = [world.Irecv([pair, MPI.INT], MPI.ANY_SOURCE, MPI.ANY_TAG), world.Isend([mine, MPI.INT], right, 2)]
MPI.Request.Waitall(r)
assert pair[0] == left
status = MPI.Status()
request = world.Irecv([pair, MPI.INT], left, 3)
world.Send([mine, MPI.INT], right, 3)
request.Wait(status)
assert status.Get_source() == left and status.Get_tag() == 3
request = world.Isend([mine, MPI.INT], right, 4)
world.Probe(left, 4, status)
world.Recv([value, MPI.INT], left, 4, status)
assert MPI.Request.Waitany([request]) == 0 and value[0] == left
column = MPI.DOUBLE.Create_vector(4, 1, 2).Commit()
world.Sendrecv_replace([matrix, 1, column], right, 5, left, 5)
column.Free()
world.Recv([value, MPI.INT], MPI.PROC_NULL, 6)

r = [world.Recv_init([value, MPI.INT], left, 7), world.Send_init([mine, MPI.INT], right, 7)]
MPI.Prequest.Startall(r)
MPI.Request.Waitall(r)
assert value[0] == left
r[0].Free()
r[1].Free()

comm = world.Split(rank % 2, rank)
comm.Set_name("parity")
comm.Allreduce([mine, MPI.INT], [total, MPI.INT], MPI.SUM)
comm.Free()
comm = world.Dup()
comm.Barrier()
comm.Free()
sys.stdout.write("%d of %d: %d\n" % (rank, size, total[0]))  # at once: mpirun mixes what comes in pieces

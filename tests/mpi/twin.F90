! The twin of twin.c in Fortran: by mpif.h (-DTWIN_MPIF), use mpi (-DTWIN_MPI) or use mpi_f08 (-DTWIN_F08).
#ifdef TWIN_F08
#define REQUEST type(MPI_Request)
#define COMM type(MPI_Comm)
#define DATATYPE type(MPI_Datatype)
#define STATUS type(MPI_Status)
#define STATUS_LENGTH
#define SOURCE_OF(s) s%MPI_SOURCE
#define TAG_OF(s) s%MPI_TAG
#else
#define REQUEST integer
#define COMM integer
#define DATATYPE integer
#define STATUS integer
#define STATUS_LENGTH (MPI_STATUS_SIZE)
#define SOURCE_OF(s) s(MPI_SOURCE)
#define TAG_OF(s) s(MPI_TAG)
#endif

program twin
#if defined(TWIN_F08)
  use mpi_f08
  implicit none
#elif defined(TWIN_MPI)
  use mpi
  implicit none
#else
  implicit none
  include 'mpif.h'
#endif
  integer :: rank, size, value, total, ierr, index, left, right, i
  integer :: pair(2), all(16), counts(8), starts(8), nothing(1)
  double precision :: matrix(8)
  REQUEST :: r(2)
  STATUS :: stat STATUS_LENGTH
  COMM :: comm
  DATATYPE :: column

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)
  left = mod(rank + size - 1, size)
  right = mod(rank + 1, size)
  matrix = 0

  value = rank
  call MPI_Allreduce(value, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  call MPI_Allreduce(MPI_IN_PLACE, value, 1, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, ierr)
  call must(total == size * (size - 1) / 2 .and. value == size - 1, 1)
  call MPI_Bcast(matrix, 8, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
  all(rank + 1) = rank
  if (rank == 0) then
    call MPI_Gather(MPI_IN_PLACE, 0, MPI_INTEGER, all, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
  else
    call MPI_Gather(rank, 1, MPI_INTEGER, nothing, 0, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
  end if
  do i = 1, size
    counts(i) = 1
    starts(i) = i - 1
  end do
  call MPI_Allgatherv(rank, 1, MPI_INTEGER, all, counts, starts, MPI_INTEGER, MPI_COMM_WORLD, ierr)
  call must(all(size) == size - 1, 2)
  call MPI_Iallreduce(rank, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, r(1), ierr)
  call MPI_Wait(r(1), MPI_STATUS_IGNORE, ierr)
  call must(total == size * (size - 1) / 2, 3)
  call MPI_Barrier(MPI_COMM_WORLD, ierr)

  call MPI_Sendrecv(rank, 1, MPI_INTEGER, right, 1, value, 1, MPI_INTEGER, left, 1, MPI_COMM_WORLD, &
                    MPI_STATUS_IGNORE, ierr)
  call must(value == left, 4)
  call MPI_Irecv(pair, 2, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, r(1), ierr)
  call MPI_Isend(rank, 1, MPI_INTEGER, right, 2, MPI_COMM_WORLD, r(2), ierr)
  call MPI_Waitall(2, r, MPI_STATUSES_IGNORE, ierr)
  call must(pair(1) == left, 5)
  call MPI_Irecv(pair, 2, MPI_INTEGER, left, 3, MPI_COMM_WORLD, r(1), ierr)
  call MPI_Send(rank, 1, MPI_INTEGER, right, 3, MPI_COMM_WORLD, ierr)
  call MPI_Wait(r(1), stat, ierr)
  call must(SOURCE_OF(stat) == left .and. TAG_OF(stat) == 3, 6)
  call MPI_Isend(rank, 1, MPI_INTEGER, right, 4, MPI_COMM_WORLD, r(1), ierr)
  call MPI_Probe(left, 4, MPI_COMM_WORLD, stat, ierr)
  call MPI_Recv(value, 1, MPI_INTEGER, left, 4, MPI_COMM_WORLD, stat, ierr)
  call MPI_Waitany(1, r, index, MPI_STATUS_IGNORE, ierr)
  call must(value == left .and. index == 1, 7)
  call MPI_Type_vector(4, 1, 2, MPI_DOUBLE_PRECISION, column, ierr)
  call MPI_Type_commit(column, ierr)
  call MPI_Sendrecv_replace(matrix, 1, column, right, 5, left, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
  call MPI_Type_free(column, ierr)
  call MPI_Recv(value, 1, MPI_INTEGER, MPI_PROC_NULL, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)

  call MPI_Recv_init(value, 1, MPI_INTEGER, left, 7, MPI_COMM_WORLD, r(1), ierr)
  call MPI_Send_init(rank, 1, MPI_INTEGER, right, 7, MPI_COMM_WORLD, r(2), ierr)
  call MPI_Startall(2, r, ierr)
  call MPI_Waitall(2, r, MPI_STATUSES_IGNORE, ierr)
  call must(value == left, 8)
  call MPI_Request_free(r(1), ierr)
  call MPI_Request_free(r(2), ierr)

  call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), rank, comm, ierr)
  call MPI_Comm_set_name(comm, "parity", ierr)
  call MPI_Allreduce(rank, total, 1, MPI_INTEGER, MPI_SUM, comm, ierr)
  call MPI_Comm_free(comm, ierr)
  call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierr)
  call MPI_Barrier(comm, ierr)
  call MPI_Comm_free(comm, ierr)
  print '(i0,a,i0,a,i0)', rank, ' of ', size, ': ', total
  call MPI_Finalize(ierr)

contains

  subroutine must(holds, number)
    logical, intent(in) :: holds
    integer, intent(in) :: number
    if (.not. holds) then
      print *, 'wrong: ', number
      error stop 1
    end if
  end subroutine must
end program twin

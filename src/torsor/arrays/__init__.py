"""Arrays of any library: which one is it, the primitives we allow ourselves, shapes with names."""

from torsor.arrays.exact import exact_constants as exact_constants
from torsor.arrays.orthonormal_rows import (
    OrthonormalRows as OrthonormalRows,
    Triangle as Triangle,
    orthonormal_pairs as orthonormal_pairs,
    orthonormal_rows as orthonormal_rows,
)
from torsor.arrays.primitives import (
    absolute as absolute,
    as_numbers as as_numbers,
    atan2 as atan2,
    block as block,
    by_rows as by_rows,
    concat as concat,
    constant as constant,
    cos as cos,
    cross as cross,
    dot as dot,
    identity as identity,
    is_concrete as is_concrete,
    known_numbers as known_numbers,
    matmul as matmul,
    matrix as matrix,
    matvec as matvec,
    namespace as namespace,
    outer as outer,
    permute as permute,
    reshape as reshape,
    sign as sign,
    sin as sin,
    sqrt as sqrt,
    stack as stack,
    stack_matrices as stack_matrices,
    stack_vectors as stack_vectors,
    take as take,
    tanh as tanh,
    transpose as transpose,
    where as where,
    zeros as zeros,
)
from torsor.arrays.symmetric import (
    Factors as Factors,
    factor as factor,
    inverse as inverse,
    solve as solve,
    solve_columns as solve_columns,
)

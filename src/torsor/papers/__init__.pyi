from torsor.papers import (
    exercises as exercises,
    force_first as force_first,
    formulations as formulations,
    rigid_body as rigid_body,
    second_kind as second_kind,
)
from torsor.papers._closed_form import ClosedForm as ClosedForm, closed_form as closed_form
from torsor.papers._rodriguez_form import RodriguezForm as RodriguezForm, rodriguez_form as rodriguez_form
from torsor.papers.accelerations import (
    AltafiniEquationReport as AltafiniEquationReport,
    euler_trajectory as euler_trajectory,
    joint_acceleration as joint_acceleration,
)
from torsor.papers.brackets import (
    adjoint_between as adjoint_between,
    adjoint_between_derivative as adjoint_between_derivative,
    adjoint_between_second_derivative as adjoint_between_second_derivative,
)
from torsor.papers.formulation_comparison import (
    FormulationComparison as FormulationComparison,
    compare_formulations as compare_formulations,
)
from torsor.papers.link_parts import (
    link_christoffel_symbols as link_christoffel_symbols,
    link_kinetic_energies as link_kinetic_energies,
    link_potential_energies as link_potential_energies,
)
from torsor.papers.operation_counts import (
    OperationCount as OperationCount,
    count_operations as count_operations,
    count_polynomial as count_polynomial,
    count_table as count_table,
)
from torsor.papers.public import (
    altafini_equation_report as altafini_equation_report,
    altafini_workspace_acceleration as altafini_workspace_acceleration,
    articulated_body_acceleration as articulated_body_acceleration,
    christoffel_symbols_by_brackets as christoffel_symbols_by_brackets,
    factorised_acceleration as factorised_acceleration,
)

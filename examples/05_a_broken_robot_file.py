"""A robot file with mistakes in it: what torsor says, what it repairs when asked, and what it writes back.

Needs torsor alone.

python examples/05_a_broken_robot_file.py
"""

import torsor

BROKEN = """<robot name="arm">  <!-- from a spreadsheet -->
  <link name="base"/>
  <link name="upper">
    <inertial>
      <origin xyz="0 0 0.2"/>
      <mass value="2.0"/>
      <inertia ixx="0.03" ixy="0" ixz="0" iyy="0.03" iyz="0" izz="0.08"/>
    </inertial>
    <visual><geometry><mesh filename="package://arm/upper.stl"/></geometry></visual>
  </link>
  <joint name="shoulder" type="revolute">
    <parent link="base"/>
    <child link="upper"/>
    <axis xyz="0 1 0"/>
    <limit lower="2" upper="-2" effort="50" velocity="0"/>
  </joint>
</robot>
"""


def main() -> None:
    print("torsor.check: everything at once, errors first\n")
    for finding in torsor.check(BROKEN):
        print(f"  {finding}")

    print("\ntorsor.load refuses it:\n")
    try:
        torsor.load(BROKEN)
    except torsor.FileError as error:
        print(f"  {str(error).splitlines()[0]}")

    print("\nWith two repairs, each asked for by name:\n")
    arm = torsor.load(BROKEN, repair=["inertia-triangle", "limits-inverted"])
    for finding in arm.source.findings if arm.source else ():
        print(f"  {finding}")
    print(f"\n  {arm!r}, limits {arm.limits.lower[0]:g} … {arm.limits.upper[0]:g} rad")

    print("\nA better inertia, written back into the file; the rest stays as it was:\n")
    fixed = BROKEN.replace('lower="2" upper="-2"', 'lower="-2" upper="2"').replace('izz="0.08"', 'izz="0.004"')
    rod = torsor.Inertia.cylinder(0.04, 0.5, mass=2.2, com=(0, 0, 0.25))
    for line in torsor.load(fixed).with_inertia("upper", rod).to_urdf().splitlines()[:11]:
        print(f"  {line}")


if __name__ == "__main__":
    main()
